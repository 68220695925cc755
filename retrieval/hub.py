"""Asks the Hugging Face hub once whether it has a model, before libraries ask again for minutes."""

import os
from pathlib import Path

TIMEOUT_S = 10.0


def hub_problem(name: str, file: str = "config.json") -> str | None:
    """Why a model cannot come from the hub or its cache; None if it can, or if `name` is a folder.

    Only a hub that does not answer is a problem. A name that cannot be one of the hub, and what a hub answers, such as
    that it has no such model, are left to the library that loads the model.
    """
    if os.path.isabs(name) or Path(name).exists():
        return None
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(name, file)
    except HFValidationError:  # the library that loads the model names what is wrong
        return None
    if isinstance(cached, str) or constants.HF_HUB_OFFLINE:
        return None  # offline, the libraries read the cache alone, at once
    try:
        get_hf_file_metadata(hf_hub_url(name, file), timeout=TIMEOUT_S)
    except Exception as error:  # of httpx or requests, by the version
        if getattr(error, "response", None) is not None:
            return None
        return (
            f"the hub {constants.ENDPOINT} cannot be reached ({type(error).__name__}), and its cache lacks {name}: "
            "check the network and HF_ENDPOINT, or give the folder of a downloaded model"
        )
    return None
