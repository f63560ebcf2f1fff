"""Pure models: state, call, outcome -> verdict. No I/O."""
