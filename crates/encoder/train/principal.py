"""The principal components of the teacher's vectors, in which the summaries are taught."""

import numpy as np
import torch

from model import QUERY, Model, vectors_of
from pairs import Pairs

# Queries by which the components are turned.
TURNING_QUERIES = 20_000


def principal_components(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean of n x d vectors, and their components as columns, d x d, that of the largest variance first."""
    vectors = vectors.astype(np.float32)
    mean = vectors.mean(0)
    _, _, components = np.linalg.svd(np.cov((vectors - mean).T), hermitian=True)
    return mean, components.T


@torch.inference_mode()
def turned(model: Model, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Mean and components of the teacher's vectors of queries, the components turned so that a trained model's summaries
    are as near to what they teach as can be (orthogonal Procrustes, Schönemann 1966): d x dim.
    """
    mean, components = principal_components(pairs.vectors[::2])
    basis = components[:, : model.config.dim]
    taught = np.flatnonzero(pairs.teach >= 0)
    taught = taught[:: max(1, len(taught) // TURNING_QUERIES)]
    model.eval()
    summaries = vectors_of(model, [pairs.text("query", i) for i in taught], QUERY)[2].cpu().numpy()
    model.train()
    targets = (pairs.vectors[pairs.teach[taught]].astype(np.float32) - mean) @ basis
    targets /= np.maximum(np.linalg.norm(targets, axis=1, keepdims=True), 1e-6)
    left, _, right = np.linalg.svd(targets.T @ summaries)
    basis = basis @ left @ right
    near = float(((targets @ left @ right) * summaries).sum(1).mean())
    print(f"summaries of {len(taught)} queries have a cosine of {near:.3f} to what they are taught", flush=True)
    return mean, basis
