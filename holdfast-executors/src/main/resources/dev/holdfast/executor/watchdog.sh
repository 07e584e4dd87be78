# Ends what runs for jobs whose worker fell silent: process groups, and containers. It stands outside
# of the worker's JVM, because a JVM that is frozen or killed cannot end anything.
#
# It hears one line at a time and answers each with one:
#   watch THING UNTIL   end this when UNTIL has passed
#   renew THING UNTIL   the same, for one that is not being ended already
#   stop THING          end it now: TERM, and KILL after the grace
#   gone GROUP          is nothing of it left? ok or no
#   end THING           its job is over: kill what is left, and forget it
# THING is a process group's number, or container:ID. UNTIL is a moment, in hundredths of a second
# since the machine started. A length of time would be wrong when the worker is frozen between saying
# it and sending it.

# Whoever tells the worker to end tells everything around it; we end when our input does. Nor may an
# answer that nobody is left to hear be our end.
trap '' TERM HUP INT PIPE

grace=$1
engine=${2:-} # the socket of what runs containers
declare -A deadline=() kill_at=() seen=()

# Not the clock on the wall, which can be set; and without another process.
look_at_clock() {
  local up
  read -r up _ </proc/uptime
  now=$((10#${up/./}))
}

ask_engine() { # <method> <path>
  curl -s -f -o /dev/null -m 5 --unix-socket "$engine" -X "$1" "http://engine/$2"
}

# Containers are signalled beside us: whoever runs them may be slow to answer.
signal() { # <name> <thing>
  if [[ $2 == container:* ]]; then
    ask_engine POST "containers/${2#*:}/kill?signal=$1" </dev/null >/dev/null 2>&1 &
  else
    kill "-$1" -- "-$2" 2>/dev/null
  fi
}

forget() { unset "deadline[$1]" "kill_at[$1]" "seen[$1]"; }

is_watched() { [[ -n ${deadline[$1]:-} ]]; }

# A group's number is nobody else's while one of the group lives, and may be a stranger's soon after.
# So each is looked at ten times a second, and left alone once it was there and is not any more. One
# that was not there yet may only just be becoming a group.
is_gone() {
  [[ $1 != container:* ]] || return 1
  if signal 0 "$1"; then
    seen[$1]=1
    return 1
  fi
  [[ -n ${seen[$1]:-} ]]
}

begin_end() {
  signal TERM "$1"
  kill_at[$1]=$((now + grace))
}

sweep() {
  local thing
  look_at_clock
  for thing in "${!deadline[@]}"; do
    if is_gone "$thing"; then
      forget "$thing"
    elif [[ -n ${kill_at[$thing]:-} ]]; then
      if ((now >= kill_at[$thing])); then
        signal KILL "$thing"
        # Again and again, but no faster than an engine can answer.
        [[ $thing != container:* ]] || kill_at[$thing]=$((now + 50))
      fi
    elif ((now >= deadline[$thing])); then
      begin_end "$thing"
    fi
  done
}

obey() {
  local verb=$1 thing=$2 moment=$3
  # Groups 0 and 1 are ourselves and everybody.
  [[ $thing =~ ^([1-9][0-9]+|container:[0-9a-f]{12,64})$ ]] || return 1
  case $verb in
    watch) deadline[$thing]=$moment ;;
    renew) ! is_watched "$thing" || deadline[$thing]=$moment ;;
    stop)
      is_watched "$thing" || return 0
      look_at_clock
      deadline[$thing]=0
      [[ -n ${kill_at[$thing]:-} ]] || begin_end "$thing"
      ;;
    gone)
      is_watched "$thing" || return 0
      # Forgotten before the answer is heard: the number may be a stranger's by the next sweep.
      ! is_gone "$thing" || forget "$thing"
      ! is_watched "$thing" || ! signal 0 "$thing"
      ;;
    end)
      is_watched "$thing" || return 0
      [[ $thing == container:* ]] || signal KILL "$thing" # containers are removed by who made them
      forget "$thing"
      ;;
    *) return 1 ;;
  esac
}

while true; do
  pause=()
  ((${#deadline[@]} == 0)) || pause=(-t 0.1) # nothing to watch: sleep until somebody speaks
  if read -r "${pause[@]}" verb thing moment; then
    if obey "$verb" "$thing" "$moment"; then echo ok; else echo no; fi
  elif (($? <= 128)); then
    break # the end of our input: the worker is no more
  fi
  sweep
done

# At once and without a grace: a worker that is proved dead has its jobs taken over at once.
for thing in "${!deadline[@]}"; do
  [[ $thing == container:* ]] || signal KILL "$thing"
done

# Nobody else will take them away, either. An engine that is just being restarted is waited for.
remove_container() {
  local id=$1 tries
  for tries in {1..60}; do
    ask_engine DELETE "containers/$id?force=true&v=true" && return
    ask_engine GET "containers/$id/json" || ! ask_engine GET _ping || return # it is gone already
    sleep 1
  done
}

for thing in "${!deadline[@]}"; do
  [[ $thing != container:* ]] || remove_container "${thing#*:}" </dev/null >/dev/null 2>&1 &
done
wait
