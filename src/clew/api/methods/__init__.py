"""All operations as typed methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from clew.api.methods.authored import AsyncAuthoredMethods, AuthoredMethods
from clew.api.methods.context import AsyncContextMethods, ContextMethods
from clew.api.methods.facts import AsyncFactsMethods, FactsMethods
from clew.api.methods.gate import AsyncGateMethods, GateMethods
from clew.api.methods.graph import AsyncGraphMethods, GraphMethods
from clew.api.methods.guidance import AsyncGuidanceMethods, GuidanceMethods
from clew.api.methods.history import AsyncHistoryMethods, HistoryMethods
from clew.api.methods.kernel import AsyncKernelMethods, KernelMethods
from clew.api.methods.ledger import AsyncLedgerMethods, LedgerMethods
from clew.api.methods.lifecycle import AsyncLifecycleMethods, LifecycleMethods
from clew.api.methods.observations import AsyncObservationsMethods, ObservationsMethods
from clew.api.methods.pack import AsyncPackMethods, PackMethods
from clew.api.methods.plans import AsyncPlansMethods, PlansMethods
from clew.api.methods.trust import AsyncTrustMethods, TrustMethods
from clew.api.methods.upkeep import AsyncUpkeepMethods, UpkeepMethods


class Methods(
    AuthoredMethods,
    ContextMethods,
    FactsMethods,
    GateMethods,
    GraphMethods,
    GuidanceMethods,
    HistoryMethods,
    KernelMethods,
    LedgerMethods,
    LifecycleMethods,
    ObservationsMethods,
    PackMethods,
    PlansMethods,
    TrustMethods,
    UpkeepMethods,
):
    """Every operation as a method."""


class AsyncMethods(
    AsyncAuthoredMethods,
    AsyncContextMethods,
    AsyncFactsMethods,
    AsyncGateMethods,
    AsyncGraphMethods,
    AsyncGuidanceMethods,
    AsyncHistoryMethods,
    AsyncKernelMethods,
    AsyncLedgerMethods,
    AsyncLifecycleMethods,
    AsyncObservationsMethods,
    AsyncPackMethods,
    AsyncPlansMethods,
    AsyncTrustMethods,
    AsyncUpkeepMethods,
):
    """Every operation as a method to await."""
