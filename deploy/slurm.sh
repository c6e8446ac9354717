#!/usr/bin/env bash
#SBATCH --job-name=augury
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --gpus-per-node=4
#SBATCH --time=12:00:00
#SBATCH --signal=B:TERM@120
# Run a command of Augury on the machines of a Slurm job, from the root of a checkout that all of them mount:
#   sbatch deploy/slurm.sh train my.yaml --storage /shared/results
# Two minutes before the end Slurm sends SIGTERM: the same line continues from the last checkpoints. Set VENV where the
# environment is not .venv, and adapt the lines above to your machines: partition, account, all CPUs and GPUs of a node
# (leave --gpus-per-node out for none). Ray is one task on each node and finds what the job has there.
set -euo pipefail

if [ "$#" -eq 0 ]; then
    echo "usage: sbatch deploy/slurm.sh VERB ARGUMENTS, such as train my.yaml --storage /shared/results" >&2
    exit 2
fi
# shellcheck source=/dev/null
source "${VENV:-.venv}/bin/activate"
# Ray asks for this token: other users of the machines cannot run code in the job.
export RAY_AUTH_MODE=token
[ -e ~/.ray/auth_token ] || ray get-auth-token --generate > /dev/null

wait_for() { # A NAME, AND A COMMAND THAT SUCCEEDS ONCE IT IS THERE
    local name="$1" end=$((SECONDS + ${START_SECONDS:-300}))
    shift
    until "$@" > /dev/null 2>&1; do
        if [ "$SECONDS" -ge "$end" ]; then
            echo "$name did not start within ${START_SECONDS:-300} s (START_SECONDS): see the errors of Slurm and Ray above" >&2
            exit 1
        fi
        sleep 2
    done
}

cpus="${SLURM_CPUS_PER_TASK:-1}"
export SRUN_CPUS_PER_TASK="$cpus" # srun does not take it over from the job
port=$((20000 + SLURM_JOB_ID % 20000))
head="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)"
address="$(srun --nodes=1 --ntasks=1 --nodelist="$head" hostname --ip-address | cut -d ' ' -f 1):$port"
node=(ray start --block --num-cpus="$cpus" --disable-usage-stats)

srun --nodes=1 --ntasks=1 --nodelist="$head" "${node[@]}" --head --node-ip-address="${address%:*}" \
    --port="$port" --include-dashboard=true --dashboard-host=127.0.0.1 &
wait_for "Ray on $head" ray status --address="$address"
if [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then
    srun --nodes=$((SLURM_JOB_NUM_NODES - 1)) --ntasks=$((SLURM_JOB_NUM_NODES - 1)) --exclude="$head" \
        "${node[@]}" --address="$address" &
fi
export RAY_ADDRESS="$address"
wait_for "Ray on $SLURM_JOB_NUM_NODES nodes" python -c 'import ray, sys; ray.init(address="auto", log_to_driver=False)
sys.exit(sum(node["Alive"] for node in ray.nodes()) != int(sys.argv[1]))' "$SLURM_JOB_NUM_NODES"

# The command is the child that SIGTERM is passed on to; its exit code is the job's.
augury "$@" &
command=$!
trap 'kill -TERM "$command"' TERM
code=0
wait "$command" || code=$?
if [ "$code" -gt 128 ] && kill -0 "$command" 2> /dev/null; then
    code=0
    wait "$command" || code=$? # the first `wait` was ended by the signal
fi
exit "$code"
