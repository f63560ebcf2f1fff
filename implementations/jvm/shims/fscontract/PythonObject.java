package fscontract;

/** A Python object that Java holds. */
public interface PythonObject {}
