/**
 * The promises of section 7 of the specification about what a tool writes, makes and is told in
 * secret.
 */
export const OUTPUT: { readonly [name: string]: string } = {
  'output-backpressure':
    'A listener of output that takes its time makes the child wait, and nothing is lost, also at its end.',
  'output-counted-first': 'Bytes of output are counted before anything looks at them.',
  'output-lines':
    'One JSON object a line is an event, whatever the chunks; lines end at line feeds only.',
  'output-forged': 'A tool cannot forge lines of the runner, of an orchestrator or of another run.',
  'output-late':
    'A second start, and whatever follows the end that a tool told, is recorded and refused.',
  'output-fields': 'A field of the wrong type is left out with a diagnostic, and its line stays.',
  'output-hostile':
    'Each bad line becomes a diagnostic, each good one is kept, and none is a crash.',
  'output-line-cap':
    'Of a line that is too long the rest is skipped, with a diagnostic that tells its length.',
  'output-run-cap': 'What is more than a run may write is counted and left out.',
  'output-bounded': 'A flood of bad lines is a bounded number of diagnostics and a count.',
  'output-plain':
    'The lines of a plain program are its text; its first event makes it a tool of the protocol.',
  'redact-chunks':
    'Secrets are taken out across the edges of chunks, and nothing else is kept back.',
  'redact-encodings':
    'Secrets are found as JSON, base64, URL, hexadecimal, markup and shell write them, whole and line by line.',
  'redact-bytes': 'Secrets are taken out of bytes that are no text.',
  'redact-values': 'Secrets are taken out of keys and values of JSON, which stays JSON.',
  'redact-lines':
    'Secrets are taken out of plain lines and of diagnostics before those are shortened.',
  'redact-nothing': 'Without secrets redaction costs nothing.',
  'redact-short': 'A secret that is too short to be kept out of logs is refused.',
  'stderr-log':
    'What a tool writes to stderr is kept in a file without secrets; its lines are diagnostics, its notifications events.',
  'stderr-cap': 'The file for stderr has a cap over all attempts, and the rest is counted.',
  artifacts: 'Artifacts are hashed and copied when the tree is dead.',
  'artifacts-contained':
    'Artifacts outside of what a tool may write to, links, hard links, pipes and devices are refused, each with a problem.',
  secrets: 'Secrets come from files of mode 0600 or by stdin.',
  'secrets-refused':
    'A file that is not ours alone, and a name or a value that cannot be a secret, is refused.',
  'secrets-laid-out': 'A tool gets its secrets as files that are wiped at its end.',
  traceparent: 'A run goes on with the trace that TRACEPARENT names, and hands it to its tool.',
  'trace-export': 'A run can be exported as spans from its log.',
  'trace-command':
    '`toolable runs export` prints OTLP/JSON or sends it to the address that was given; nothing else is ever sent.',
}
