# A chore as a command that an agent runs. It speaks to the ledger over one connection, which ends
# with it and all that it started.
port=$1 resources=$2 seconds=$3 failures=$4
job=$HOLDFAST_JOB_ID attempt=$HOLDFAST_ATTEMPT fence=$HOLDFAST_FENCE

exec 3<>"/dev/tcp/127.0.0.1/$port" || exit 2
says() {
  echo "$1" >&3 && read -r answer <&3 && [[ $answer == ok ]]
}
leave() { # <exit code>
  says bye
  exit "$1"
}

says "hello c-$job-$fence" || exit 2
says "start $job $attempt $fence $resources" || leave 3
sleep "$seconds"
if ((attempt <= failures)); then
  says "end $job $fence failed"
  leave 4
fi
if ! says "effect $job $fence"; then
  says "end $job $fence refused"
  leave 5
fi
says "end $job $fence done"
leave 0
