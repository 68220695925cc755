"""One recipe on a cluster: what `judge-r1 launch` sends to Ray, Slurm, KubeRay or SkyPilot, as one readable file."""
