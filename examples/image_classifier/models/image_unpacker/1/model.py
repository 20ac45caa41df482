# SPDX-License-Identifier: Apache-2.0
"""Unpacks picture files (JPEG, PNG and others), and scales them to the size that the network takes."""

import io

import numpy as np
import triton_python_backend_utils as pb_utils
from PIL import Image, ImageOps, UnidentifiedImageError

SIZE = 224
LARGEST = 8192 * 8192  # pixels: a small file may unfold to a very large picture


def pixels_of(data):
    """The middle of a picture as [224, 224, 3] bytes. ValueError says why that is impossible."""
    try:
        image = Image.open(io.BytesIO(data))
        if image.width * image.height > LARGEST:
            raise ValueError("the picture is too large")
        image = ImageOps.exif_transpose(image).convert("RGB")  # upright
    except Image.DecompressionBombError:
        raise ValueError("the picture is too large") from None
    except UnidentifiedImageError:
        raise ValueError("the data is no picture") from None
    except OSError as error:
        raise ValueError(f"the picture is damaged: {error}") from None
    return np.asarray(ImageOps.fit(image, (SIZE, SIZE), Image.Resampling.BICUBIC))


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            images = pb_utils.get_input_tensor_by_name(request, "IMAGE").as_numpy().ravel()
            try:
                pixels = np.stack([pixels_of(image) for image in images])
            except ValueError as error:
                # This request fails, and the others of the batch do not.
                failed = pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG)
                responses.append(pb_utils.InferenceResponse(error=failed))
                continue
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("PIXELS", pixels)]))
        return responses
