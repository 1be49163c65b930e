"""The composition root: an agent's file → models → tools → an agent that one can talk to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from holodeck.errors import ConfigError
from holodeck.lib.extras import require_extra
from holodeck.lib.paths import resolve_cache_dir
from holodeck.lib.resources import Resources
from holodeck.lib.test_runner.agent_tools import AgentTool, SearchFunction
from holodeck.lib.test_runner.conversation import Conversation
from holodeck.lib.test_runner.embedded_agent import EmbeddedConversation
from holodeck.lib.test_runner.functions import PythonFunction
from holodeck.models.function_tool import FunctionTool
from holodeck.tools.vectorstore_tool import VectorStoreTool

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.lib.contracts import ProgressListener, RetryFailed
    from holodeck.lib.test_runner.judge import Judge

__all__ = ["Agent", "create_agent"]


STOPPED = (
    "What was answered until then is reported: raise --max-cost (or execution.max_cost), or run "
    "fewer cases with --limit"
)
"""What to do next when test cases are stopped at the cost cap."""


class Agent:
    """An agent at work: its tools, and as many conversations with it as one wants.

    Args:
        loaded: What the file says.
        tools: What it may call, in the file's order.
        resources: Where its own model comes from.

    Example:
        >>> agent = create_agent(load_agent("agent.yaml"))    # doctest: +SKIP
        >>> await agent.initialize()                          # doctest: +SKIP
        >>> turn = await agent.conversation().ask("Who …?")   # doctest: +SKIP
    """

    def __init__(
        self, loaded: LoadedAgent, tools: Sequence[AgentTool], resources: Resources
    ) -> None:
        self.loaded = loaded
        self.tools = tuple(tools)
        self._resources = resources
        self._instructions = loaded.instructions()

    @property
    def search_tools(self) -> tuple[VectorStoreTool, ...]:
        """The tools that have an index."""
        return tuple(tool.tool for tool in self.tools if isinstance(tool, SearchFunction))

    async def initialize(self, force: bool = False, *, retry_failed: RetryFailed = False) -> None:
        """Bring every index up to date and open it; ``force`` builds even what is.

        Raises:
            IndexingError: An index could not be built; those before it are open.
        """
        for tool in self.search_tools:
            await tool.initialize(force_ingest=force, retry_failed=retry_failed)

    async def open_existing(self) -> None:
        """Open every index that is there, stale or not; nothing is built.

        Raises:
            SearchError: A tool has no index.
        """
        for tool in self.search_tools:
            await tool.open_existing()

    def conversation(self) -> Conversation:
        """Begin a conversation; several may go on at once."""
        config = self.loaded.config
        if config.model.provider == "embedded":
            return EmbeddedConversation(self.tools)
        from holodeck.lib.test_runner.model_agent import ModelConversation, TurnLimits

        return ModelConversation(
            self._resources.chat(config.model, "model"),
            config.model,
            instructions=self._instructions,
            tools=self.tools,
            limits=TurnLimits(
                model_calls=config.execution.max_model_calls,
                tool_calls=config.execution.max_tool_calls,
            ),
            price=self._resources.reach.price(config.model, "chat"),
        )

    def judge(self) -> Judge:
        """Return the model that judges answers.

        Raises:
            ConfigError: Its provider has no language model, or its key is missing.
        """
        from holodeck.lib.test_runner.judge import Judge

        own = self.loaded.config.evaluations.judge
        settings = own or self.loaded.config.model
        where = "evaluations.judge" if own is not None else "model"
        return Judge(self._resources.chat(settings, where), settings)

    def capped(self, limit: float | None) -> AbstractContextManager[object]:
        """Let what is asked of models inside cost no more than ``limit`` USD; ``None``: any."""
        return self._resources.capped(limit, STOPPED)

    async def close(self) -> None:
        """Release indexes and connections; a second call does nothing."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._resources.close)
            for tool in self.search_tools:
                stack.push_async_callback(tool.close)


def create_agent(
    loaded: LoadedAgent,
    *,
    resources: Resources | None = None,
    in_process: bool = False,
    on_progress: ProgressListener | None = None,
    wait_for_builder: bool = True,
) -> Agent:
    """Return the agent that a file declares; nothing is read, built or called yet.

    Args:
        loaded: The file.
        resources: Where all models come from; default: the providers.
        in_process: Build indexes in this process; for tests whose models are objects.
        on_progress: Told how far a build is.
        wait_for_builder: Wait while another process builds an index instead of failing at once.

    Raises:
        ConfigError: A function cannot be used, or the model's key or package is missing.
    """
    config = loaded.config
    own = resources or Resources(
        config.execution,
        environ=loaded.environment,
        cache_dir=resolve_cache_dir(config.execution, loaded.base_dir),
    )
    if config.model.provider != "embedded":
        require_extra("agents", f"an agent with provider: {config.model.provider}")
        own.check(config.model, "model")
    tools: list[AgentTool] = []
    for tool in config.tools:
        if isinstance(tool, FunctionTool):
            tools.append(_function(tool, loaded))
            continue
        runtime = VectorStoreTool(
            tool,
            base_dir=str(loaded.base_dir),
            execution_config=config.execution,
            agent_model=config.model,
            environ=loaded.environment,
            resources=resources,
            in_process=in_process,
            on_progress=on_progress,
            wait_for_builder=wait_for_builder,
            placed=partial(loaded.placed, tool_name=tool.name),
        )
        tools.append(SearchFunction(runtime, timeout=config.execution.tool_timeout))
    return Agent(loaded, tools, own)


def _function(tool: FunctionTool, loaded: LoadedAgent) -> PythonFunction:
    try:
        return PythonFunction(tool, loaded.base_dir, timeout=loaded.config.execution.tool_timeout)
    except ConfigError as error:
        raise loaded.placed(error, tool.name) from error
