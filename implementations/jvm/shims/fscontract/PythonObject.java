package fscontract;

/** Something of Python's that Java keeps for it. */
public interface PythonObject {}
