"""The exceptions of the package."""


class Error(Exception):
    """What goes wrong in a search, a run folder or a measurement; the message names the thing, the place and the remedy.

    Example:
        >>> import autoqd
        >>> try:
        ...     autoqd.Run("/nowhere")
        ... except autoqd.Error as error:
        ...     print(error)
        /nowhere: there is no run folder, .parquet file or .json list of policies; check the path
    """


class SettingError(Error, ValueError):
    """A setting, task or argument that is not possible; also a `ValueError`.

    Example:
        >>> import autoqd
        >>> try:
        ...     autoqd.run("hoper")
        ... except ValueError as error:
        ...     print("did you mean 'hopper'" in str(error))
        True
    """
