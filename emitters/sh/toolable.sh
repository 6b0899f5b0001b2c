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
progress() { toolable_event progress "\"$(toolable_word message msg)\":$(json_string "$1")${2:+,\"$(toolable_word percent pct)\":$2}"; }
log() { toolable_event log "\"level\":\"${2:-info}\",\"$(toolable_word message msg)\":$(json_string "$1")"; }
artifact() { toolable_event artifact "\"name\":$(json_string "$1"),\"uri\":$(json_string "$2")"; }

# The run protocol has shorter words for some things.
toolable_word() { if [ "$TOOLABLE_DIALECT" = acor ]; then printf '%s' "$2"; else printf '%s' "$1"; fi; }

toolable_event() {
  if [ "$TOOLABLE_DIALECT" = acor ]; then toolable_line "$1" ",$2"; else printf '{"type":"notification","kind":"%s",%s}\n' "$1" "$2" >&2; fi
}

# toolable_main "$@": the command line
toolable_main() {
  TOOLABLE_DIALECT=native TOOLABLE_RESULT=null TOOLABLE_TOOL=''
  [ -n "${RUN_ID-}" ] && [ -n "${AI_PROTOCOL_VERSION-}" ] && TOOLABLE_DIALECT=acor
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
    --version) toolable_say "$TOOLABLE_NAME $TOOLABLE_VERSION" ;;
    --help | -h | '') [ -n "${1-}" ] || [ "$(toolable_count)" != 1 ] && toolable_say "$(toolable_help)" ;;
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
  [ "$TOOLABLE_DIALECT" = acor ] && toolable_line start ",\"step\":\"$TOOLABLE_TOOL\""
  trap 'toolable_cancel 143' TERM
  trap 'toolable_cancel 130' INT
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
    CONFIG) toolable_category=internal TOOLABLE_STATUS=78 ;;
    *) toolable_category=internal TOOLABLE_STATUS=1 toolable_recoverable=false ;;
  esac
  TOOLABLE_CODE=$1 TOOLABLE_MESSAGE=$3
  toolable_action=retry_with_modified_input
  [ "$toolable_recoverable" = true ] || toolable_action=abort
  TOOLABLE_ERROR="{\"code\":\"$1\",\"category\":\"$toolable_category\",\"message\":$(json_string "$3"),\"recoverable\":$toolable_recoverable,\"retryable\":$toolable_retryable${4:+,\"suggestion\":{\"action\":\"$toolable_action\",\"fix\":$(json_string "$4"),\"applicability\":\"maybe_incorrect\"\}}${2:+,\"field\":$(json_string "$2")}}"
}

# What was started in the background last would keep the answer open.
toolable_cancel() {
  toolable_error CANCELLED '' 'the call was cancelled'
  TOOLABLE_STATUS=$1
  [ -z "${!-}" ] || kill "$!" 2>/dev/null
  toolable_leave
}

# Says how the call ended, and ends the program.
toolable_leave() {
  trap - TERM INT
  toolable_meta="\"meta\":{\"tool\":$(json_string "$TOOLABLE_NAME${TOOLABLE_TOOL:+.$TOOLABLE_TOOL}"),\"version\":\"$TOOLABLE_VERSION\",\"duration_ms\":0}"
  if [ -z "${TOOLABLE_CODE-}" ]; then
    if [ "$TOOLABLE_DIALECT" = acor ]; then toolable_line result ",\"status\":\"ok\",\"result\":$TOOLABLE_RESULT"; exit 0; fi
    toolable_say "{\"ok\":true,\"status\":\"success\",\"result\":$TOOLABLE_RESULT,$toolable_meta}"
  fi
  if [ "$TOOLABLE_DIALECT" = acor ]; then
    if [ "$TOOLABLE_CODE" = CANCELLED ]; then toolable_line cancelled ",\"reason\":\"the call was cancelled\""
    else toolable_line error ",\"code\":\"E_$TOOLABLE_CODE\",\"msg\":$(json_string "$TOOLABLE_MESSAGE"),\"retryable\":$toolable_retryable"; fi
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
  printf '{"v":1,"type":"%s","ts":"%s","run_id":"%s"%s}\n' "$1" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$RUN_ID" "$2" >&3
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
      if (types[name] != found && !(types[name] == "number" && found == "integer")) { stop("INVALID_INPUT", name, name " must be " words(types[name]) ", got " substr(raw, 1, 80), "Correct " name); return }
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
