"""What a build of the graph tells of itself: the library's names for it, and those of the plan."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from holodeck.lib.contracts import Progress, ProgressListener

__all__ = ["IndexingCallbacks"]

logger = logging.getLogger(__name__)


class IndexingCallbacks:
    """Logs how far a build is, remembers it, and tells a listener.

    ``pipeline_*``, ``workflow_*`` and ``progress`` are the protocol of the library
    (``WorkflowCallbacks``); the ``on_*`` methods are what they come down to. An instance is a
    ``ProgressListener`` too.

    Args:
        tool_name: The tool whose index is built.
        on_progress: Told of progress as well.

    Attributes:
        current_workflow: The step that was begun last; ``None`` before and after all.
        workflows_completed: The steps that ended, in order.
    """

    def __init__(self, tool_name: str, on_progress: ProgressListener | None = None) -> None:
        self.tool_name = tool_name
        self.current_workflow: str | None = None
        self.workflows_completed: list[str] = []
        self._on_progress = on_progress

    def __call__(self, progress: Progress) -> None:
        """Take note of a step that begins or goes on."""
        self.progress(progress)

    # --- the library's protocol ---------------------------------------------------------------

    def pipeline_start(self, names: Sequence[str]) -> None:
        """Begin anew: nothing is completed."""
        self.current_workflow, self.workflows_completed = None, []
        self.on_log(f"building in {len(names)} steps" if names else "building")

    def pipeline_end(self, results: Sequence[object]) -> None:
        """End the step that was begun last."""
        if self.current_workflow is not None:
            self.on_workflow_end(self.current_workflow, result=results)
        self.current_workflow = None

    def workflow_start(self, name: str, instance: object) -> None:
        """Take note of a step that begins."""
        self.on_workflow_start(name, instance)

    def workflow_end(self, name: str, instance: object) -> None:
        """Take note of a step that ended."""
        self.on_workflow_end(name, instance)

    def progress(self, progress: Progress) -> None:
        """Take note of a step that begins or goes on; a step ends where another begins."""
        if progress.step != self.current_workflow:
            if self.current_workflow is not None:
                self.on_workflow_end(self.current_workflow)
            self.on_workflow_start(progress.step)
        if self._on_progress is not None:
            self._on_progress(progress)

    def pipeline_error(self, error: BaseException) -> None:
        """Take note of what ended the build; who asked for it is told by the error itself."""
        self.on_error(str(error), error)

    # --- what each comes down to --------------------------------------------------------------

    def on_workflow_start(self, name: str, instance: object = None) -> None:
        """Take note of a step that begins."""
        self.current_workflow = name
        self.on_log(f"begun: {name}")

    def on_workflow_end(self, name: str, instance: object = None, result: object = None) -> None:
        """Take note of a step that ended; one that went on beside others ends once."""
        if name not in self.workflows_completed:
            self.workflows_completed.append(name)

    def on_step_start(self, step: str, info: Mapping[str, object] | None = None) -> None:
        """Log a part of a step."""
        self.on_log(f"{step} {dict(info)}" if info else step)

    def on_step_end(
        self, step: str, info: Mapping[str, object] | None = None, result: object = None
    ) -> None:
        """Log that a part of a step ended."""
        self.on_log(f"ended: {step}")

    def on_error(
        self, message: str, cause: BaseException | None = None, stack: str | None = None
    ) -> None:
        """Log what went wrong, for a build that is looked into: the error itself is raised."""
        named = f" ({type(cause).__name__})" if cause is not None else ""
        self.on_log(f"failed{named}: {message}")

    def on_warning(self, message: str) -> None:
        """Log what the user should know."""
        logger.warning("[%s] %s", self.tool_name, message)

    def on_log(self, message: str) -> None:
        """Log anything else."""
        logger.debug("[%s] %s", self.tool_name, message)
