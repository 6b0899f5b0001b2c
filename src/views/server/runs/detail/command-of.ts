import { quoteAllForShell } from '../../../../contract/quote-for-shell.ts'
import { flagName } from '../../../../define/flags/flag-name.ts'
import { takesDocument } from '../../../../runner/given-of.ts'
import type { RunRequest } from '../../../../runner/run-request.ts'
import { hideArguments, hideInput } from './hide-secrets.ts'

// What a run has that nobody asked for anything else.
const DEFAULTS = { timeout_s: 1800, heartbeat_grace_s: 90, retries: 3 }

/** The command line that would start a run like this one again, to be pasted in the directory that it was started in. */
export function commandOf(request: RunRequest): string {
  return quoteAllForShell([
    'toolable',
    ...(request.command === 'workflow'
      ? workflowWords(request)
      : request.command === 'agent'
        ? agentWords(request)
        : toolWords(request)),
  ])
}

function toolWords(request: RunRequest): readonly string[] {
  const {
    tool,
    dry_run,
    timeout_s,
    heartbeat_grace_s,
    retries,
    allow_level,
    secrets = {},
  } = request
  return [
    'run',
    ...surroundingWords(request),
    ...(dry_run ? ['--dry-run'] : []),
    ...(timeout_s !== undefined && timeout_s !== DEFAULTS.timeout_s
      ? ['--timeout', `${timeout_s}s`]
      : []),
    ...(heartbeat_grace_s !== DEFAULTS.heartbeat_grace_s
      ? ['--heartbeat-grace', String(heartbeat_grace_s)]
      : []),
    ...(retries !== DEFAULTS.retries ? ['--retries', String(retries)] : []),
    ...(allow_level ? ['--allow-level', allow_level] : []),
    ...Object.entries(secrets).flatMap(([name, path]) => ['--secret-file', `${name}=${path}`]),
    ...answerWords(request),
    tool,
    ...givenWords(request),
  ]
}

// What was typed, where it stands by itself; a document that came by stdin or from a file is written out.
function givenWords({ args, input, inputSchema, call }: RunRequest): readonly string[] {
  const typed = hideArguments(args, inputSchema)
  if (!takesDocument(call) || !input) return typed
  return typed.length > 0 && !typed.some((word) => word === '-' || word.startsWith('@'))
    ? typed
    : [JSON.stringify(hideInput(input, inputSchema))]
}

function workflowWords(request: RunRequest): readonly string[] {
  const { workflow, input = {}, timeout_s, tool } = request
  const name = workflow?.file ?? String(workflow?.definition['name'] ?? tool)
  const server = workflow?.server
  return [
    'workflow',
    'run',
    ...surroundingWords(request),
    ...(timeout_s === undefined ? [] : ['--timeout', `${timeout_s}s`]),
    ...(server
      ? [
          '--engine',
          'restate',
          '--ingress',
          server.ingress,
          ...(server.admin === undefined ? [] : ['--admin', server.admin]),
        ]
      : []),
    ...answerWords(request),
    name,
    ...(Object.keys(input).length > 0 ? [JSON.stringify(hideInput(input, undefined))] : []),
  ]
}

function agentWords(request: RunRequest): readonly string[] {
  const { task, ...settings } = request.input ?? {}
  const words = Object.entries(settings).flatMap(([name, value]): readonly string[] => {
    const flag = `--${flagName(name)}`
    if (value === undefined || value === null || value === false) return []
    if (value === true) return [flag]
    return (Array.isArray(value) ? value : [value]).flatMap((one: unknown) => [
      flag,
      typeof one === 'string' ? one : JSON.stringify(one),
    ])
  })
  return ['agent', ...surroundingWords(request), ...words, String(task ?? '')]
}

function surroundingWords({ surroundings }: RunRequest): readonly string[] {
  if (!surroundings) return []
  const { config, folder = [], strict, probeUnsandboxed, cache } = surroundings
  return [
    ...(config === undefined ? [] : ['--config', config]),
    ...folder.flatMap((one) => ['--folder', one]),
    ...(strict ? ['--strict'] : []),
    ...(probeUnsandboxed ? ['--probe-unsandboxed'] : []),
    ...(cache === false ? ['--no-cache'] : []),
  ]
}

// On the record already, in the clear: answers are no secrets.
function answerWords({ answers = {} }: RunRequest): readonly string[] {
  return Object.entries(answers).flatMap(([key, value]) => [
    '--answer',
    `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  ])
}
