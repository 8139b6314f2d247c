def pytest_addoption(parser):
    parser.addoption("--strikes", type=int, default=4, help="of senders on two hosts: how often one is added, killed or cut off")
    parser.addoption("--seed", type=int, default=None, help="of their order and moments; a random one is printed")
