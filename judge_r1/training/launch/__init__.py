"""Renders and submits training jobs for Ray, Slurm, KubeRay and SkyPilot."""
