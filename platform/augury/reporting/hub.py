"""Upload exported models to the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import disable_progress_bars, enable_progress_bars, validate_repo_id

from augury.core.commands import command
from augury.core.errors import UserError


def check_name(repository: str) -> None:
    """Raise UserError unless a repository has a name that the hub allows, NAME/MODEL."""
    try:
        validate_repo_id(repository)
    except HFValidationError as error:
        raise UserError(f"--push {repository}: {error}") from error
    if "/" not in repository:
        raise UserError(
            f"--push {repository}: give the owner too, NAME/MODEL, such as my-name/{repository}"
        )


def push(directory: Path, repository: str, private: bool = False) -> str:
    """Upload a directory to a model repository, made unless it exists; return its address.

    UserError where the hub cannot be reached or refuses.
    """
    api = HfApi()
    disable_progress_bars()
    try:
        made = api.create_repo(repository, private=private or None, exist_ok=True)
        api.upload_folder(
            folder_path=directory,
            repo_id=made.repo_id,
            commit_message=f"Export {directory.name} of Augury",
        )
    except Exception as error:  # from huggingface_hub and its HTTP library
        reason = " ".join(str(error).split())
        retry = command("hf", "upload", repository, str(directory))
        raise UserError(
            f"the export is in {directory}, and was not pushed to {repository} of {api.endpoint}: "
            f"{reason:.300}. Log in with `hf auth login` or HF_TOKEN, and continue with: {retry}"
        ) from error
    finally:
        enable_progress_bars()
    return str(made)
