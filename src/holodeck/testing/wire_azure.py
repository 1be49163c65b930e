"""What Azure says otherwise than OpenAI: its errors, its key and its version."""

from __future__ import annotations

from holodeck.testing.replies import ServerRequest
from holodeck.testing.wire import VendorError, error_for, refusal_of

__all__ = ["azure_error_for", "azure_refusal_of"]

_MESSAGES = {
    401: (
        "401",
        "Access denied due to invalid subscription key or wrong API endpoint. Make sure to "
        "provide a valid key for an active subscription.",
    ),
    404: (
        "DeploymentNotFound",
        "The API deployment for this resource does not exist. If you created the deployment "
        "within the last 5 minutes, please wait a moment and try again.",
    ),
    429: (
        "429",
        "Requests have exceeded the call rate limit of your current pricing tier. Please retry "
        "after some seconds.",
    ),
}


def azure_error_for(request: ServerRequest, *, status: int | None, code: str | None) -> VendorError:
    """Return Azure's error for a status, a code, or both."""
    if code is None and status in _MESSAGES:
        said = _MESSAGES[status]
        return VendorError(status=status, type="", code=said[0], message=said[1])
    return error_for(request, status=status, code=code)


def azure_refusal_of(request: ServerRequest) -> VendorError | None:
    """Return why Azure would not take the request at all, or ``None``."""
    if not request.query.get("api-version"):
        return VendorError(status=404, type="", code="404", message="Resource not found")
    return refusal_of(request)
