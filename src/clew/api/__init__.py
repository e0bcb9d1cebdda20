"""Every operation of Clew with its answer, and `MemoryApi`, which has a method for each.

Faces and clients import from here; features import their own operations.
"""

from clew.api.memory import MemoryApi as MemoryApi
from clew.api.registry import REQUESTS as REQUESTS
from clew.core.operation import *
from clew.features.authored.operations import *
from clew.features.context.operations import *
from clew.features.facts.operations import *
from clew.features.gate.operations import *
from clew.features.graph.operations import *
from clew.features.guidance.operations import *
from clew.features.history.operations import *
from clew.features.ledger.operations import *
from clew.features.lifecycle.operations import *
from clew.features.observations.operations import *
from clew.features.pack.operations import *
from clew.features.plans.operations import *
from clew.features.trust.operations import *
from clew.features.upkeep.operations import *
from clew.kernel.operations import *
