# Ends the process groups of jobs whose worker fell silent. It stands outside of the worker's JVM,
# because a JVM that is frozen or killed cannot end anything.
#
# It hears one line at a time and answers each with one:
#   watch GROUP UNTIL   end this group when UNTIL has passed
#   renew GROUP UNTIL   the same, for a group that is not being ended already
#   stop GROUP          end it now: TERM, and KILL after the grace
#   gone GROUP          is nothing of it left? ok or no
#   end GROUP           its job is over: kill what is left, and forget it
# UNTIL is a moment, in hundredths of a second since the machine started. A length of time would be
# wrong when the worker is frozen between saying it and sending it.

# Whoever tells the worker to end tells everything around it; we end when our input does. Nor may an
# answer that nobody is left to hear be our end.
trap '' TERM HUP INT PIPE

grace=$1
declare -A deadline=() kill_at=()

# Not the clock on the wall, which can be set; and without another process.
look_at_clock() {
  local up
  read -r up _ </proc/uptime
  now=$((10#${up/./}))
}

signal() { kill "-$1" -- "-$2" 2>/dev/null; }

forget() { unset "deadline[$1]" "kill_at[$1]"; }

begin_end() {
  signal TERM "$1"
  kill_at[$1]=$((now + grace))
}

sweep() {
  local group
  look_at_clock
  for group in "${!deadline[@]}"; do
    if [[ -n ${kill_at[$group]:-} ]]; then
      if ((now >= kill_at[$group])); then
        signal KILL "$group"
      fi
    elif ((now >= deadline[$group])); then
      begin_end "$group"
    fi
  done
}

obey() {
  local verb=$1 group=$2 moment=$3
  [[ $group =~ ^[1-9][0-9]+$ ]] || return 1 # groups 0 and 1 are ourselves and everybody
  case $verb in
    watch) deadline[$group]=$moment ;;
    renew) [[ -z ${deadline[$group]:-} ]] || deadline[$group]=$moment ;;
    stop)
      look_at_clock
      deadline[$group]=0
      [[ -n ${kill_at[$group]:-} ]] || begin_end "$group"
      ;;
    gone) ! signal 0 "$group" ;;
    end)
      signal KILL "$group"
      forget "$group"
      ;;
    *) return 1 ;;
  esac
}

while true; do
  pause=()
  ((${#deadline[@]} == 0)) || pause=(-t 0.1) # nothing to watch: sleep until somebody speaks
  if read -r "${pause[@]}" verb group moment; then
    if obey "$verb" "$group" "$moment"; then echo ok; else echo no; fi
  elif (($? <= 128)); then
    break # the end of our input: the worker is no more
  fi
  sweep
done

# At once and without a grace: a worker that is proved dead has its jobs taken over at once.
for group in "${!deadline[@]}"; do
  signal KILL "$group"
done
