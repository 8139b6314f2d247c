def pytest_addoption(parser):
    parser.addoption("--kills", type=int, default=110, help="how many SIGKILLs; at least 8 of each process in any case")
    parser.addoption("--carts", type=int, default=120, help="carts per shop")
    parser.addoption("--seed", type=int, default=None, help="of the order of kills; a random one is printed")
