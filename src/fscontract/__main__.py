"""`python -m fscontract`."""

from fscontract.contract.cli.main import main

if __name__ == "__main__":
    main()
