from autoqd import loggers as loggers
from autoqd import ribs as ribs
from autoqd._errors import Error as Error
from autoqd._errors import SettingError as SettingError
from autoqd._film import Film as Film
from autoqd._mathematics import AffineMap as AffineMap
from autoqd._mathematics import Embedding as Embedding
from autoqd._mathematics import cwpca as cwpca
from autoqd._mathematics import embed as embed
from autoqd._mathematics import mmd as mmd
from autoqd._mathematics import vendi_bandwidth as vendi_bandwidth
from autoqd._mathematics import vendi_score as vendi_score
from autoqd._reading import Explorer as Explorer
from autoqd._reading import Policy as Policy
from autoqd._reading import Run as Run
from autoqd._run import resume as resume
from autoqd._run import run as run
from autoqd._sb3 import sb3_vec_env as sb3_vec_env
from autoqd._search import Search as Search
from autoqd._single import FastEnv as FastEnv
from autoqd._single import make as make
from autoqd._toeplitz import toeplitz_policy as toeplitz_policy
from autoqd._vector import FastVectorEnv as FastVectorEnv
from autoqd._vector import make_vec as make_vec

__version__: str
__all__: list[str]
