def pytest_addoption(parser):
    parser.addoption("--kills", type=int, default=110, help="of the whole system: how many SIGKILLs; at least 8 of each process in any case")
    parser.addoption("--carts", type=int, default=120, help="carts per shop")
    parser.addoption("--seed", type=int, default=None, help="of the order of kills, points and faults; a random one is printed")
    parser.addoption("--points", type=int, default=24, help="of the broker alone: how many points are struck in all; 0: every one, in every way")
    parser.addoption("--cycles", type=int, default=6, help="of the broker alone: how many kills at random moments")
    parser.addoption("--jobs", type=int, default=0, help="of the broker alone: bouts side by side")
    parser.addoption("--damages", type=int, default=5, help="to the broker's folder; from 21 on each kind of file in every way")
