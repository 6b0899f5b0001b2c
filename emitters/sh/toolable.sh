# Make the functions of a shell script full agent tools. One file to source, nothing but POSIX sh and awk.
#
#   . "$(dirname "$0")/toolable.sh"
#
#   tool greet 'Say hello to somebody' readOnly
#   param name string required 'Who is greeted'
#   param loud boolean
#   run_greet() {
#     [ "$name" = nobody ] && fail NOT_FOUND 'there is nobody' 'Give another name'
#     progress 'nearly done' 90
#     result "{\"text\": $(json_string "Hello $name")}"
#   }
#
#   toolable_main "$@"
#
# Types: string, integer, number, boolean, array, object. A parameter is a shell variable of its name, unset where it was not given; arrays and
# objects are JSON texts. `result` takes JSON, `text` a text. What a function prints goes to stderr: stdout carries the answer alone.
# Under a runner (`toolable run`) heartbeats come by themselves, and ask, choose, confirm, checkpoint_save, checkpoint_load, cancelled, workspace,
# deadline and secret are there. A shell hears of a signal when its foreground child is over: start long work in the background and wait for it.
# toolable: {"tools": []}

TOOLABLE_TOOLS='' TOOLABLE_NAME=${TOOLABLE_NAME:-$(basename "$0" .sh)} TOOLABLE_VERSION=${TOOLABLE_VERSION:-0.1.0}
TOOLABLE_TAB=$(printf '\t') TOOLABLE_NEWLINE='
'

# tool <name> <summary> [readOnly] [destructive] [idempotent]
tool() {
  TOOLABLE_TOOL=$(printf '%s' "$1" | tr - _)
  TOOLABLE_TOOLS="$TOOLABLE_TOOLS $TOOLABLE_TOOL"
  eval "toolable_summary_$TOOLABLE_TOOL=\$2 toolable_params_$TOOLABLE_TOOL= toolable_hints_$TOOLABLE_TOOL="
  shift 2
  for toolable_hint; do eval "toolable_hints_$TOOLABLE_TOOL=\"\$toolable_hints_$TOOLABLE_TOOL \$toolable_hint\""; done
}

# param <name> <type> [required] [description]
param() {
  toolable_name=$1 toolable_type=$2 toolable_required=''
  shift 2
  if [ "${1-}" = required ]; then toolable_required=required; shift; fi
  eval "toolable_params_$TOOLABLE_TOOL=\"\$toolable_params_$TOOLABLE_TOOL\$toolable_name\$TOOLABLE_TAB\$toolable_type\$TOOLABLE_TAB\$toolable_required\$TOOLABLE_TAB\${1-}\$TOOLABLE_NEWLINE\""
}

# json_string <text>: the text as JSON, with its quotes
json_string() {
  # The mark keeps line ends that awk would not see.
  printf '%s.' "$1" | LC_ALL=C awk '
    BEGIN { for (i = 1; i < 32; i++) code[sprintf("%c", i)] = sprintf("\\u%04x", i) }
    { text = text (NR > 1 ? "\n" : "") $0 }
    END {
      text = substr(text, 1, length(text) - 1); out = "\""
      while (match(text, /["\\\001-\037]/)) {
        c = substr(text, RSTART, 1)
        out = out substr(text, 1, RSTART - 1) (c == "\"" || c == "\\" ? "\\" c : c == "\n" ? "\\n" : c == "\t" ? "\\t" : code[c])
        text = substr(text, RSTART + 1)
      }
      printf "%s\"", out text
    }'
}

# result <json>, text <text>: what the call answers
result() { TOOLABLE_RESULT=$1; }
text() { TOOLABLE_RESULT=$(json_string "$1"); }

# fail <code> <message> [<fix>]: ends the call
fail() {
  toolable_error "$1" '' "$2" "${3-}"
  toolable_leave
}

# progress <message> [<percent>], log <message> [<level>], artifact <name> <uri>
progress() { toolable_event progress "\"$(toolable_word message msg)\":$(json_string "$1")${2:+,\"$(toolable_word percent pct)\":$2}$([ "$TOOLABLE_DIALECT" = native ] || printf ',"step":"%s"' "$TOOLABLE_TOOL")"; }
log() { toolable_event log "\"level\":\"${2:-info}\",\"$(toolable_word message msg)\":$(json_string "$1")"; }
artifact() {
  toolable_event artifact "\"name\":$(json_string "$1"),\"uri\":$(json_string "$2")"
  case "$2" in file://*) toolable_made=${2#file://} ;; *://*) toolable_made='' ;; *) toolable_made=$2 ;; esac
  if [ -z "$toolable_made" ]; then toolable_made="{\"name\":$(json_string "$1"),\"uri\":$(json_string "$2")}"
  else toolable_hash=$(toolable_sha256 "$toolable_made"); toolable_made="{\"name\":$(json_string "$1"),\"path\":$(json_string "$toolable_made")${toolable_hash:+,\"sha256\":\"$toolable_hash\"}}"; fi
  TOOLABLE_ARTIFACTS="${TOOLABLE_ARTIFACTS:+$TOOLABLE_ARTIFACTS,}$toolable_made"
}

# A folder is hashed by the runner.
toolable_sha256() {
  [ -f "$1" ] || return 0
  for toolable_program in sha256sum 'shasum -a 256' 'openssl dgst -sha256 -r'; do
    command -v "${toolable_program%% *}" > /dev/null && { $toolable_program < "$1" | cut -c 1-64; return; }
  done
}

# ask <variable> <prompt> [name=value ...]: asks somebody, waits, and puts the answer into the variable: a text as it is, anything else as JSON.
# Names: default, timeout (seconds), key, action, and any other fact for whoever answers. Without an answer and without a default the call fails.
ask() { toolable_ask input any "$@"; }
# confirm <variable> <prompt> [name=value ...]: true or false
confirm() { toolable_ask confirm boolean "$@"; }
# choose <variable> <prompt> <option,option,...> [name=value ...]: one of the options
choose() {
  toolable_variable=$1 toolable_prompt=$2 toolable_options=$3
  shift 3
  toolable_ask decision string "$toolable_variable" "$toolable_prompt" "options=$toolable_options" "$@"
}

toolable_ask() {
  toolable_action=$1 toolable_type=$2 toolable_variable=$3 toolable_prompt=$4 toolable_known='' toolable_facts='' toolable_default=''
  shift 4
  for toolable_pair; do
    toolable_name=${toolable_pair%%=*} toolable_value=${toolable_pair#*=}
    case "$toolable_name" in
      action) toolable_action=$toolable_value ;;
      timeout) toolable_facts="$toolable_facts,\"timeout\":$toolable_value" ;;
      options) toolable_facts="$toolable_facts,\"options\":[$(toolable_list_options "$toolable_value")]" ;;
      default)
        toolable_known=yes toolable_default=$toolable_value
        if [ "$toolable_type" = boolean ]; then toolable_facts="$toolable_facts,\"default\":$toolable_value"; else toolable_facts="$toolable_facts,\"default\":$(json_string "$toolable_value")"; fi ;;
      *) toolable_facts="$toolable_facts,$(json_string "$toolable_name"):$(json_string "$toolable_value")" ;;
    esac
  done
  TOOLABLE_ASKED=$((${TOOLABLE_ASKED:-0} + 1))
  if [ "$TOOLABLE_DIALECT" = acor ]; then
    toolable_line action_required ",\"action\":$(json_string "$toolable_action"),\"context\":{\"id\":\"q$$-$TOOLABLE_ASKED\",\"prompt\":$(json_string "$toolable_prompt")$toolable_facts}"
    while IFS= read -r toolable_answer; do
      toolable_params="id${TOOLABLE_TAB}any${TOOLABLE_TAB}${TOOLABLE_TAB}${TOOLABLE_NEWLINE}value$TOOLABLE_TAB$toolable_type$TOOLABLE_TAB$TOOLABLE_TAB$TOOLABLE_NEWLINE"
      # In a shell of its own: parameters of the tool may have the same names. The mark keeps line ends.
      toolable_answer=$(TOOLABLE_CODE=''; unset id value; eval "$(printf '%s\n' "$toolable_answer" | toolable_read json)"; [ -z "$TOOLABLE_CODE" ] && [ -n "${value+given}" ] && [ "${id:-q$$-$TOOLABLE_ASKED}" = "q$$-$TOOLABLE_ASKED" ] && printf '%s.' "$value")
      [ -n "$toolable_answer" ] && { eval "$toolable_variable=\${toolable_answer%.}"; return 0; }
    done
  elif [ -t 0 ] && [ -t 2 ]; then
    printf '%s\n> ' "$toolable_prompt" >&2
    if IFS= read -r toolable_answer && [ -n "$toolable_answer" ]; then eval "$toolable_variable=\$toolable_answer"; return 0; fi
  fi
  [ -n "$toolable_known" ] || fail ANSWER_REQUIRED "the tool asks '$toolable_prompt' and nobody can answer" "Give the answer before: toolable run --answer $toolable_action=<value> ..."
  eval "$toolable_variable=\$toolable_default"
}

toolable_list_options() {
  printf '%s\n' "$1" | tr , '\n' | { toolable_comma=''; while IFS= read -r toolable_one; do printf '%s{"value":%s}' "$toolable_comma" "$(json_string "$toolable_one")"; toolable_comma=,; done; }
}

# workspace: prints the folder of the run, which is found again when the run is resumed
workspace() { printf '%s\n' "${WORKSPACE:-$PWD}"; }

# deadline: prints when the runner ends the call (ISO 8601), or nothing
deadline() { printf '%s' "${DEADLINE_TS:+$DEADLINE_TS$TOOLABLE_NEWLINE}"; }

# cancelled: ends the call when somebody has cancelled it; to be called between two pieces of work
cancelled() { if [ -n "${CANCEL_FILE-}" ] && [ -e "$CANCEL_FILE" ]; then toolable_cancel 130; fi; }

# secret <variable> <name>: puts a secret that the run was given into the variable
secret() {
  toolable_file=$(printf '%s' "$2" | tr a-z.- A-Z__)_FILE
  eval "toolable_file=\${$toolable_file-}"
  { [ -n "$toolable_file" ] && [ -r "$toolable_file" ]; } || fail CONFIG "the secret '$2' was not given" "Give it by a file with mode 0600: toolable run --secret-file $2=<path> ..."
  eval "$1=\$(cat \"\$toolable_file\")"
}

# checkpoint_save <stage> <json>: what a stage of a long job remembers, replaced whole
checkpoint_save() {
  toolable_folder=$(workspace)/.checkpoints
  mkdir -p "$toolable_folder" && printf '{"stage":%s,"data":%s}\n' "$(json_string "$1")" "$2" > "$toolable_folder/$1.json.$$.tmp" && mv -f "$toolable_folder/$1.json.$$.tmp" "$toolable_folder/$1.json" ||
    { rm -f "$toolable_folder/$1.json.$$.tmp"; fail DISK_FULL "the checkpoint '$1' could not be saved"; }
}

# checkpoint_load <variable> <stage>: puts what was saved last into the variable, as JSON; returns 1 where nothing was
checkpoint_load() {
  toolable_file=$(workspace)/.checkpoints/$2.json
  [ -r "$toolable_file" ] || return 1
  # In a shell of its own: parameters of the tool may have the same names.
  toolable_saved=$(TOOLABLE_CODE=''; toolable_params="stage${TOOLABLE_TAB}string${TOOLABLE_TAB}required${TOOLABLE_TAB}${TOOLABLE_NEWLINE}data${TOOLABLE_TAB}raw${TOOLABLE_TAB}required${TOOLABLE_TAB}${TOOLABLE_NEWLINE}"; eval "$(toolable_read json < "$toolable_file")"; [ -z "$TOOLABLE_CODE" ] && [ "$stage" = "$2" ] && printf '%s' "$data")
  [ -n "$toolable_saved" ] || fail PRECONDITION "the checkpoint $toolable_file is damaged: remove it to start over"
  eval "$1=\$toolable_saved"
}

# The run protocol has shorter words for some things.
toolable_word() { if [ "$TOOLABLE_DIALECT" = acor ]; then printf '%s' "$2"; else printf '%s' "$1"; fi; }

toolable_event() {
  if [ "$TOOLABLE_DIALECT" = acor ]; then toolable_line "$1" ",$2"; else printf '{"type":"notification","kind":"%s",%s}\n' "$1" "$2" >&2; fi
}

# toolable_main "$@": the command line
toolable_main() {
  TOOLABLE_DIALECT=native TOOLABLE_RESULT=null TOOLABLE_TOOL='' TOOLABLE_ARTIFACTS='' TOOLABLE_BEATER=''
  [ -n "${RUN_ID-}" ] && [ -n "${AI_PROTOCOL_VERSION-}" ] && toolable_is_ours && TOOLABLE_DIALECT=acor
  # The answer has a door of its own, so that prints cannot get in between.
  exec 3>&1 1>&2
  set -- "$@"
  case "${1-}" in
    '{"__test__": true}') [ $# = 1 ] && toolable_say '{"success": true, "_simple": true}' ;;
    --discover) toolable_say "{\"name\":$(json_string "$TOOLABLE_NAME"),\"version\":\"$TOOLABLE_VERSION\",\"tools\":[$(toolable_each toolable_short)],\"resources\":[],\"prompts\":[],\"stdin\":true}" ;;
    --tools) toolable_say "{\"tools\":[$(toolable_each toolable_short)]}" ;;
    --manifest) toolable_say "{\"name\":$(json_string "$TOOLABLE_NAME"),\"version\":\"$TOOLABLE_VERSION\",\"tools\":[$(toolable_each toolable_manifest)],\"resources\":[],\"prompts\":[]}" ;;
    --schema) toolable_say "{\"tools\":[$(toolable_each toolable_schema_document)]}" ;;
    --fractalic-dump-schema | --fractalic-dump-multi-schema) toolable_say "[$(toolable_each toolable_dump)]" ;;
    --selftest) toolable_say '{"selftest":"ok"}' ;;
    --version) toolable_say "$TOOLABLE_NAME $TOOLABLE_VERSION" ;;
    --help | -h | '') [ "$(toolable_count)" != 1 ] && toolable_say "$(toolable_help)" ;;
  esac
  toolable_only=''
  [ "$(toolable_count)" = 1 ] && toolable_only=${TOOLABLE_TOOLS# }
  toolable_wanted=$(printf '%s' "${1-}" | tr - _)
  case "$TOOLABLE_TOOLS " in
    *" $toolable_wanted "*) TOOLABLE_TOOL=$toolable_wanted; [ $# -gt 0 ] && shift ;;
    *)
      TOOLABLE_TOOL=$toolable_only
      if [ -z "$toolable_only" ]; then
        toolable_error USAGE '' "unknown command ${1-}" "The commands are$(printf '%s' "$TOOLABLE_TOOLS" | tr _ -)"
        toolable_leave
      fi ;;
  esac
  toolable_call "$@"
}

# The variables of a runner are inherited by everything below it, its stdout is not.
toolable_is_ours() {
  [ -n "${RUN_STDOUT-}" ] || return 0
  { toolable_own=$(stat -L -c %d:%i /dev/fd/3 2>/dev/null || stat -L -f %d:%i /dev/fd/3 2>/dev/null); } 3>&1
  [ -z "$toolable_own" ] || [ "$toolable_own" = "$RUN_STDOUT" ]
}

toolable_call() {
  eval "toolable_params=\$toolable_params_$TOOLABLE_TOOL"
  case "${1-}" in
    --manifest) toolable_say "$(toolable_manifest "$TOOLABLE_TOOL")" ;;
    --schema) toolable_say "$(toolable_schema_document "$TOOLABLE_TOOL")" ;;
    --help | -h) toolable_say "$(toolable_tool_help)" ;;
    '{'*) toolable_checked=$(printf '%s\n' "$1" | toolable_read json) ;;
    -) toolable_checked=$(toolable_read json) ;;
    @*)
      if [ ! -r "${1#@}" ]; then toolable_error INVALID_PATH '' "there is no file ${1#@}"; toolable_leave; fi
      toolable_checked=$(toolable_read json < "${1#@}") ;;
    *) toolable_checked=$(toolable_read flags "$@" < /dev/null) ;;
  esac
  TOOLABLE_CODE=''
  eval "$toolable_checked"
  [ -n "$TOOLABLE_CODE" ] && toolable_leave
  trap 'toolable_cancel 143' TERM
  trap 'toolable_cancel 130' INT
  if [ "$TOOLABLE_DIALECT" = acor ]; then
    toolable_line start ",\"step\":\"$TOOLABLE_TOOL\""
    toolable_beat < /dev/null > /dev/null 2>&1 &
    TOOLABLE_BEATER=$!
  fi
  "run_$TOOLABLE_TOOL"
  toolable_status=$?
  [ "$toolable_status" = 0 ] || toolable_error INTERNAL '' "the tool ended with status $toolable_status"
  toolable_leave
}

# toolable_error <code> <field> <message> [<fix>]
toolable_error() {
  toolable_recoverable=true toolable_retryable=false
  case "$1" in
    INVALID_INPUT | MISSING_PARAM | USAGE) toolable_category=input TOOLABLE_STATUS=2 ;;
    INVALID_PATH) toolable_category=input TOOLABLE_STATUS=66 ;;
    NOT_FOUND) toolable_category=state TOOLABLE_STATUS=66 ;;
    CONFLICT) toolable_category=state TOOLABLE_STATUS=73 ;;
    PRECONDITION) toolable_category=state TOOLABLE_STATUS=1 ;;
    PERMISSION) toolable_category=auth TOOLABLE_STATUS=77 toolable_recoverable=false ;;
    DEPENDENCY) toolable_category=runtime TOOLABLE_STATUS=69 toolable_recoverable=false toolable_retryable=true ;;
    RATE_LIMIT) toolable_category=runtime TOOLABLE_STATUS=75 toolable_recoverable=false toolable_retryable=true ;;
    TIMEOUT) toolable_category=runtime TOOLABLE_STATUS=124 toolable_recoverable=false ;;
    CANCELLED) toolable_category=runtime TOOLABLE_STATUS=130 toolable_recoverable=false ;;
    ANSWER_REQUIRED) toolable_category=state TOOLABLE_STATUS=77 ;;
    CONFIRMATION_REQUIRED) toolable_category=auth TOOLABLE_STATUS=77 ;;
    DISK_FULL) toolable_category=runtime TOOLABLE_STATUS=73 toolable_recoverable=false ;;
    CONFIG) toolable_category=internal TOOLABLE_STATUS=78 ;;
    *) toolable_category=internal TOOLABLE_STATUS=1 toolable_recoverable=false ;;
  esac
  TOOLABLE_CODE=$1 TOOLABLE_MESSAGE=$3 TOOLABLE_FIX=${4-}
  # Some codes have another name in the run protocol.
  case "$1" in
    INVALID_INPUT) TOOLABLE_PROTOCOL_CODE=E_SCHEMA_MISMATCH ;;
    INVALID_PATH | NOT_FOUND) TOOLABLE_PROTOCOL_CODE=E_INPUT_NOT_FOUND ;;
    DEPENDENCY) TOOLABLE_PROTOCOL_CODE=E_TRANSIENT_NET ;;
    INTERNAL) TOOLABLE_PROTOCOL_CODE=E_UNKNOWN ;;
    E_*) TOOLABLE_PROTOCOL_CODE=$1 ;;
    *) TOOLABLE_PROTOCOL_CODE=E_$1 ;;
  esac
  toolable_action=retry_with_modified_input
  [ "$toolable_recoverable" = true ] || toolable_action=abort
  TOOLABLE_ERROR="{\"code\":\"$1\",\"category\":\"$toolable_category\",\"message\":$(json_string "$3"),\"recoverable\":$toolable_recoverable,\"retryable\":$toolable_retryable${4:+,\"suggestion\":{\"action\":\"$toolable_action\",\"fix\":$(json_string "$4"),\"applicability\":\"maybe_incorrect\"\}}${2:+,\"field\":$(json_string "$2")}}"
}

# Tells that the tool is alive, as long as it is.
toolable_beat() {
  trap 'kill "$toolable_pause" 2>/dev/null; exit 0' TERM
  while kill -0 $$ 2>/dev/null; do
    sleep "${TOOLABLE_HEARTBEAT_S:-10}" 3>&- & toolable_pause=$!
    wait "$toolable_pause"
    toolable_line heartbeat ",\"step\":\"$TOOLABLE_TOOL\"" || exit 0
  done
}

# What was started in the background last would keep the answer open.
toolable_cancel() {
  toolable_error CANCELLED '' 'the call was cancelled'
  TOOLABLE_STATUS=$1
  # A runner says it by its file too; a signal alone has a status of its own.
  [ -n "${CANCEL_FILE-}" ] && [ -e "$CANCEL_FILE" ] && TOOLABLE_STATUS=130 TOOLABLE_MESSAGE=cancel-file
  [ -z "${!-}" ] || kill "$!" 2>/dev/null
  toolable_leave
}

# Says how the call ended, and ends the program.
toolable_leave() {
  trap - TERM INT
  if [ -n "$TOOLABLE_BEATER" ]; then kill "$TOOLABLE_BEATER" 2>/dev/null; wait "$TOOLABLE_BEATER" 2>/dev/null; TOOLABLE_BEATER=''; fi
  toolable_meta="\"meta\":{\"tool\":$(json_string "$TOOLABLE_NAME${TOOLABLE_TOOL:+.$TOOLABLE_TOOL}"),\"version\":\"$TOOLABLE_VERSION\",\"duration_ms\":0}"
  if [ -z "${TOOLABLE_CODE-}" ]; then
    if [ "$TOOLABLE_DIALECT" = acor ]; then toolable_line result ",\"status\":\"ok\",\"result\":$TOOLABLE_RESULT,\"artifacts\":[$TOOLABLE_ARTIFACTS]"; exit 0; fi
    toolable_say "{\"ok\":true,\"status\":\"success\",\"result\":$TOOLABLE_RESULT,$toolable_meta}"
  fi
  if [ "$TOOLABLE_DIALECT" = acor ]; then
    if [ "$TOOLABLE_CODE" = CANCELLED ]; then toolable_line cancelled ",\"reason\":\"$TOOLABLE_MESSAGE\""
    else toolable_line error ",\"code\":\"$TOOLABLE_PROTOCOL_CODE\",\"msg\":$(json_string "$TOOLABLE_MESSAGE"),\"hint\":$(json_string "$TOOLABLE_FIX"),\"retryable\":$toolable_retryable,\"context\":{\"code\":\"$TOOLABLE_CODE\"}"; fi
    exit "$TOOLABLE_STATUS"
  fi
  printf '{"error":%s}\n' "$TOOLABLE_ERROR" >&2
  printf '%s\n' "{\"ok\":false,\"status\":\"error\",\"error\":$TOOLABLE_ERROR,$toolable_meta}" >&3
  exit "$TOOLABLE_STATUS"
}

toolable_say() {
  printf '%s\n' "$1" >&3 2>/dev/null || exit 73
  exit 0
}

toolable_line() {
  # A long line is written in pieces, and a heartbeat may not come in between.
  toolable_hold=''
  if [ -n "$TOOLABLE_BEATER" ] && [ ${#2} -gt 1000 ]; then toolable_hold=$TOOLABLE_BEATER; kill -STOP "$toolable_hold" 2>/dev/null; fi
  printf '{"v":1,"type":"%s","ts":"%s","run_id":"%s"%s}\n' "$1" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$RUN_ID" "$2" >&3 || { [ -z "$toolable_hold" ] || kill -CONT "$toolable_hold" 2>/dev/null; return 1; }
  [ -z "$toolable_hold" ] || kill -CONT "$toolable_hold" 2>/dev/null
}

toolable_count() { set -- $TOOLABLE_TOOLS; printf %s $#; }

toolable_each() {
  toolable_comma=''
  for toolable_item in $TOOLABLE_TOOLS; do
    printf '%s' "$toolable_comma"
    "$1" "$toolable_item"
    toolable_comma=,
  done
}

toolable_short() { eval "toolable_about=\$toolable_summary_$1"; printf '{"name":"%s","summary":%s,"streaming":false,"session_mode":false}' "$1" "$(json_string "$toolable_about")"; }
toolable_dump() { eval "toolable_about=\$toolable_summary_$1"; printf '{"name":"%s","description":%s,"parameters":%s}' "$1" "$(json_string "$toolable_about")" "$(toolable_schema "$1")"; }
toolable_schema_document() { eval "toolable_about=\$toolable_summary_$1"; printf '{"name":"%s","description":%s,"input_schema":%s}' "$1" "$(json_string "$toolable_about")" "$(toolable_schema "$1")"; }
toolable_manifest() {
  eval "toolable_about=\$toolable_summary_$1 toolable_hints=\$toolable_hints_$1"
  toolable_notes=$(for toolable_hint in $toolable_hints; do printf ',"%s":true' "$toolable_hint"; done)
  printf '{"name":"%s","summary":%s,"description":%s,"streaming":false,"session_mode":false,"schema":%s,"annotations":{%s}}' "$1" "$(json_string "$toolable_about")" "$(json_string "$toolable_about")" "$(toolable_schema "$1")" "${toolable_notes#,}"
}

toolable_schema() {
  eval "toolable_list=\$toolable_params_$1"
  printf '{"type":"object","properties":{'
  printf '%s' "$toolable_list" | {
    toolable_comma='' toolable_needed=''
    # A tab is white space for `read`, which would drop an empty field.
    while IFS= read -r toolable_row; do
      toolable_name=${toolable_row%%"$TOOLABLE_TAB"*}; toolable_row=${toolable_row#*"$TOOLABLE_TAB"}
      toolable_type=${toolable_row%%"$TOOLABLE_TAB"*}; toolable_row=${toolable_row#*"$TOOLABLE_TAB"}
      toolable_required=${toolable_row%%"$TOOLABLE_TAB"*}; toolable_about=${toolable_row#*"$TOOLABLE_TAB"}
      printf '%s"%s":{"type":"%s"%s}' "$toolable_comma" "$toolable_name" "$toolable_type" "${toolable_about:+,\"description\":$(json_string "$toolable_about")}"
      toolable_comma=,
      [ -n "$toolable_required" ] && toolable_needed="$toolable_needed,\"$toolable_name\""
    done
    printf '},"required":[%s],"additionalProperties":false}' "${toolable_needed#,}"
  }
}

toolable_help() {
  printf 'Usage: %s <tool> [options]\n\nTools:\n' "$TOOLABLE_NAME"
  for toolable_item in $TOOLABLE_TOOLS; do
    eval "toolable_about=\$toolable_summary_$toolable_item"
    printf '  %-20s  %s\n' "$(printf '%s' "$toolable_item" | tr _ -)" "$toolable_about"
  done
  printf '\nOptions:\n  --discover            Print what this program offers, as JSON\n  --help                Show this help\n  --version             Show the version\n'
}

toolable_tool_help() {
  eval "toolable_about=\$toolable_summary_$TOOLABLE_TOOL"
  printf 'Usage: %s %s [options]\n\n%s\n\nOptions:\n' "$TOOLABLE_NAME" "$(printf '%s' "$TOOLABLE_TOOL" | tr _ -)" "$toolable_about"
  printf '%s' "$toolable_params" | awk -F '\t' '{ flag = $1; gsub(/_/, "-", flag); printf "  %-20s  %s%s\n", "--" flag ($2 == "boolean" ? "" : " <" $2 ">"), $4, ($3 != "" ? " [required]" : "") }'
}

# toolable_read json|flags [words]: checks the input and prints shell text that sets the parameters, or the error.
toolable_read() {
  TOOLABLE_PARAMS=$toolable_params LC_ALL=C awk '
    function quote(text) { gsub(/\047/, "\047\\\047\047", text); return "\047" text "\047" }
    function stop(code, field, message, fix) {
      if (stopped) return
      stopped = 1
      printf "toolable_error %s %s %s %s", code, quote(field), quote(message), quote(fix)
      if (code == "INVALID_INPUT" && mode == "json") printf "; TOOLABLE_STATUS=65"
      exit
    }
    function bad(what) { stop("INVALID_INPUT", "", "the input is not JSON: " what " at byte " at, "Give one JSON object") }
    function blank() { while (substr(text, at, 1) ~ /[ \t\r\n]/ && at <= size) at++ }
    # The next value: its type in `kind`, its raw text as the answer, and a string decoded in `decoded`.
    function value(depth,   c, start, rest) {
      blank(); start = at; c = substr(text, at, 1)
      if (depth > 200) { bad("too deep"); return "" }
      if (c == "\"") { kind = "string"; string(); return substr(text, start, at - start) }
      if (c == "{" || c == "[") { nest(c, depth); kind = c == "{" ? "object" : "array"; return substr(text, start, at - start) }
      rest = substr(text, at, 40)
      if (match(rest, /^(true|false)/)) { kind = "boolean"; at += RLENGTH }
      else if (match(rest, /^null/)) { kind = "null"; at += 4 }
      else if (match(rest, /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/)) { kind = substr(rest, 1, RLENGTH) ~ /^-?[0-9]+$/ ? "integer" : "number"; at += RLENGTH }
      else bad(c == "" ? "it ends too early" : "unexpected " c)
      return substr(text, start, at - start)
    }
    function nest(open, depth,   c) {
      at++; blank()
      if (substr(text, at, 1) == (open == "{" ? "}" : "]")) { at++; return }
      while (!stopped) {
        if (open == "{") { blank(); if (substr(text, at, 1) != "\"") { bad("a name is missing"); return } string(); blank(); if (substr(text, at, 1) != ":") { bad("a colon is missing"); return } at++ }
        value(depth + 1); blank(); c = substr(text, at, 1); at++
        if (c == (open == "{" ? "}" : "]")) return
        if (c != ",") { at--; bad("a comma is missing"); return }
      }
    }
    function string(   rest, c) {
      at++; decoded = ""
      while (!stopped) {
        rest = substr(text, at, 4096)
        if (match(rest, /["\\\001-\037]/) == 0) { if (rest == "") { bad("a text has no end"); return } decoded = decoded rest; at += length(rest); continue }
        decoded = decoded substr(rest, 1, RSTART - 1); at += RSTART - 1; c = substr(text, at, 1)
        if (c == "\"") { at++; return }
        if (c != "\\") { bad("a control character in a text"); return }
        escape(substr(text, at + 1, 1))
      }
    }
    function escape(c,   code, low) {
      if (c == "u") {
        code = hex(substr(text, at + 2, 4)); at += 6
        if (code >= 55296 && code < 56320 && substr(text, at, 2) == "\\u") { low = hex(substr(text, at + 2, 4)); if (low >= 56320 && low < 57344) { code = 65536 + (code - 55296) * 1024 + low - 56320; at += 6 } }
        if (code == 0) { stop("INVALID_INPUT", "", "a shell cannot hold the character 0", "Leave it out"); return }
        decoded = decoded utf8(code); return
      }
      if (!(c in plain)) { bad("an unknown escape"); return }
      decoded = decoded plain[c]; at += 2
    }
    function hex(digits,   i, n) {
      if (digits !~ /^[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]$/) { bad("an escape of four digits"); return 1 }
      n = 0
      for (i = 1; i <= 4; i++) n = n * 16 + index("0123456789abcdef", tolower(substr(digits, i, 1))) - 1
      return n
    }
    function utf8(n) {
      if (n < 128) return sprintf("%c", n)
      if (n < 2048) return sprintf("%c%c", 192 + int(n / 64), 128 + n % 64)
      if (n < 65536) return sprintf("%c%c%c", 224 + int(n / 4096), 128 + int(n / 64) % 64, 128 + n % 64)
      return sprintf("%c%c%c%c", 240 + int(n / 262144), 128 + int(n / 4096) % 64, 128 + int(n / 64) % 64, 128 + n % 64)
    }
    function words(type) { return type == "string" ? "text" : type == "integer" ? "a whole number" : type == "number" ? "a number" : type == "boolean" ? "true or false" : type == "array" ? "a list" : type == "object" ? "an object" : type }
    function take(name, found, given, raw) {
      if (!(name in types)) { stop("INVALID_INPUT", name, name " is unknown", "The fields are" names); return }
      if (types[name] == "raw") { set[name] = raw; return }
      if (types[name] != "any" && types[name] != found && !(types[name] == "number" && found == "integer")) { stop("INVALID_INPUT", name, name " must be " words(types[name]) ", got " substr(raw, 1, 80), "Correct " name); return }
      set[name] = given
    }
    function readJson(   name, raw, c) {
      size = length(text); at = 1; blank()
      if (substr(text, at, 1) != "{") { if (value(0) != "" && !stopped) stop("INVALID_INPUT", "", "the input must be an object", "Give one JSON object"); return }
      at++; blank()
      if (substr(text, at, 1) == "}") at++
      else while (!stopped) {
        blank(); if (substr(text, at, 1) != "\"") { bad("a name is missing"); return }
        string(); name = decoded; blank()
        if (substr(text, at, 1) != ":") { bad("a colon is missing"); return }
        at++; raw = value(0); if (stopped) return
        take(name, kind, kind == "string" ? decoded : raw, raw); blank(); c = substr(text, at, 1); at++
        if (c == "}") break
        if (c != ",") { at--; bad("a comma is missing"); return }
      }
      blank(); if (!stopped && at <= size) bad("more than one document")
    }
    function readFlags(   i, word, name, cut, given, literal) {
      for (i = 2; i < ARGC && !stopped; i++) {
        word = ARGV[i]
        if (word == "--" && !literal) { literal = 1; continue }
        if (literal || word !~ /^--./) { stop("USAGE", "", "unexpected argument " word, "Values are given by flags"); return }
        cut = index(word, "="); name = substr(word, 3, (cut ? cut - 1 : length(word)) - 2); gsub(/-/, "_", name)
        if (word == "--json") continue
        if (name ~ /^no_/ && !(name in types) && types[substr(name, 4)] == "boolean") { set[substr(name, 4)] = "false"; continue }
        if (!(name in types)) { stop("USAGE", "", "unknown flag " (cut ? substr(word, 1, cut - 1) : word), "The fields are" names); return }
        if (types[name] == "boolean" && !cut) { set[name] = "true"; continue }
        if (!cut && i + 1 >= ARGC) { stop("USAGE", name, word " needs a value"); return }
        given = cut ? substr(word, cut + 1) : ARGV[++i]
        if ((types[name] == "integer" && given !~ /^-?[0-9]+$/) || (types[name] == "number" && given !~ /^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$/) || (types[name] == "boolean" && given !~ /^(true|false)$/)) { stop("INVALID_INPUT", name, name " must be " words(types[name]) ", got " given, "Correct " name); return }
        set[name] = given
      }
    }
    BEGIN {
      mode = ARGV[1]
      plain["\""] = "\""; plain["\\"] = "\\"; plain["/"] = "/"; plain["b"] = "\b"; plain["f"] = "\f"; plain["n"] = "\n"; plain["r"] = "\r"; plain["t"] = "\t"
      count = split(ENVIRON["TOOLABLE_PARAMS"], rows, "\n")
      for (i = 1; i <= count; i++) if (split(rows[i], parts, "\t") > 1) { order[++known] = parts[1]; types[parts[1]] = parts[2]; required[parts[1]] = parts[3]; names = names " " parts[1] }
      if (mode == "flags") readFlags()
      else { while ((getline line < "-") > 0) text = text (lines++ ? "\n" : "") line; readJson() }
      for (i = 1; i <= known && !stopped; i++) if (!(order[i] in set) && required[order[i]] != "") stop("MISSING_PARAM", order[i], order[i] " is required", "Add " order[i])
      if (stopped) exit
      for (i = 1; i <= known; i++) printf "%s", (order[i] in set) ? order[i] "=" quote(set[order[i]]) "; " : "unset " order[i] "; "
      exit
    }' "$@"
}
