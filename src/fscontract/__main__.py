"""`python -m fscontract`."""

from fscontract.contract.suite.cli import main

if __name__ == "__main__":
    main()
