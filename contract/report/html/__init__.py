"""The report for browsers: one file that loads nothing."""

from fscontract.contract.report.html.run import render as render
