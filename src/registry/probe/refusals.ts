/**
 * Explains why a program is not a tool, and what to do about it.
 */

import { dirname, join } from 'node:path'
import type { ChildEnd } from '../../process/child.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { quoteCommandLine, quoteForShell } from '../../util/text.ts'
import { isDeeperThan, isObject } from '../../util/values.ts'
import { WANTED_ANSWER_MS } from './ask.ts'
import type { ProbeCandidate, ProbeQuestion, ProbeRefusal, ProbeRefusalReason } from './ask.ts'

/** A refusal, and whether other questions can still change it. */
export type ProbeSetback = ProbeRefusal & { readonly isFinal: boolean }

/** The most telling reason first. */
const REASONS_BY_WEIGHT: readonly ProbeRefusalReason[] = [
  'cancelled',
  'no-sandbox',
  'not-started',
  'crashed',
  'needs-permission',
  'wants-input',
  'too-much-output',
  'slow',
  'two-documents',
  'not-json',
  'refused',
  'no-answer',
]
const ANSWER_FIX = `Let it print {"success": true, "_simple": true} when its only argument is '{"__test__": true}', or describe it in a YAML file beside it`
const PURE_STDOUT_FIX = 'Print one JSON document to stdout and everything else to stderr'

/** Why an answer does not make its candidate a tool. */
export function explainAnswer(
  candidate: ProbeCandidate,
  { args, timeoutMs: patience }: ProbeQuestion,
  end: ChildEnd,
  read: ParsedStdout,
): ProbeSetback {
  const asked = args.join(' ')
  const stderr = end.stderr.toString()
  if (end.reason === 'cancelled')
    return toSetback('cancelled', 'The probing was cancelled', 'toolable rescan', true)
  if (end.reason === 'not-started') return toStartSetback(end.problem)
  if (end.reason === 'timeout')
    return toSetback(
      'slow',
      `It gave no answer to ${asked} within ${patience / 1000} s; ${WANTED_ANSWER_MS} ms are wanted`,
      'Look at the arguments first and answer, before heavy imports, loops or servers; or describe it in a YAML file beside it',
    )
  if (end.reason !== 'exited')
    return toSetback(
      'too-much-output',
      `It answered ${asked} with more than 4 MiB`,
      PURE_STDOUT_FIX,
    )
  if (end.status !== 0) {
    const complaint = diagnoseStderr(stderr, candidate)
    if (complaint)
      return toSetback(complaint.reason, complaint.message, complaint.fix, complaint.isFinal)
    if (end.signal !== null || (end.status ?? 0) > 128)
      return toSetback(
        'crashed',
        `It was ended by ${end.signal ?? `signal ${end.status! - 128}`} when it was asked ${asked}`,
        `Run it by hand: ${quoteCommandLine([...candidate.command, ...args])}`,
      )
  }
  if (read.kind === 'two-documents')
    return toSetback(
      'two-documents',
      `It answered ${asked} with several JSON documents; one is wanted`,
      PURE_STDOUT_FIX,
    )
  if (read.kind === 'too-deep')
    return toSetback(
      'not-json',
      `It answered ${asked} with JSON that is nested more than ${MAX_ANSWER_DEPTH} levels deep`,
      ANSWER_FIX,
    )
  if (read.kind === 'not-json')
    return toSetback(
      'not-json',
      `It answered ${asked} with ${read.besides ? 'text besides JSON' : 'text that is not JSON'}: ${read.line}`,
      read.besides ? PURE_STDOUT_FIX : ANSWER_FIX,
    )
  if (read.kind === 'document' && end.status !== 0)
    return toSetback(
      'refused',
      `It refused ${asked} with exit status ${end.status}: ${describeErrorValue(read.value)}`,
      ANSWER_FIX,
    )
  if (read.kind === 'document')
    return toSetback(
      'not-json',
      `It answered ${asked} with JSON that describes nothing: ${JSON.stringify(read.value).slice(0, 100)}`,
      ANSWER_FIX,
    )
  return toSetback(
    'no-answer',
    `It does not answer the questions that tools answer${end.status === 0 ? '' : ` (exit status ${end.status}${stderr.trim() === '' ? '' : `: ${getLastLine(stderr)}`})`}`,
    ANSWER_FIX,
  )
}

/** The setback that tells most; of equal ones the first. */
export function pickWeightiest(setbacks: readonly ProbeSetback[]): ProbeRefusal {
  const { isFinal: _hopeless, ...refusal } = [...setbacks].sort(
    (left, right) =>
      REASONS_BY_WEIGHT.indexOf(left.reason) - REASONS_BY_WEIGHT.indexOf(right.reason),
  )[0]!
  return refusal
}

/** The refusal of a candidate whose answers nobody was prepared for. */
export function toSurpriseRefusal(thrown: unknown): ProbeRefusal {
  return pickWeightiest([
    toSetback(
      'not-json',
      `It cannot be asked what it is: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      ANSWER_FIX,
    ),
  ])
}

/** The refusal of everything on a machine without sandbox. */
export function toNoSandboxSetback(problem: ToolError): ProbeSetback {
  return toSetback(
    'no-sandbox',
    `It was not asked what it is, because that means to run it. ${problem.message}`,
    `${problem.suggestion?.fix ?? 'Install bubblewrap'}; or, where you trust these files: --probe-unsandboxed`,
    true,
  )
}

function toStartSetback(problem: Error | undefined): ProbeSetback {
  const isToolError = ToolError.is(problem)
  if (isToolError && problem.code === 'SANDBOX_UNAVAILABLE') return toNoSandboxSetback(problem)
  const reason = isToolError && problem.code === 'PERMISSION' ? 'needs-permission' : 'not-started'
  return toSetback(
    reason,
    problem?.message ?? 'It cannot be started',
    (isToolError ? problem.suggestion?.fix : undefined) ?? 'Run it by hand to see why',
    true,
  )
}

function toSetback(
  reason: ProbeRefusalReason,
  message: string,
  fix: string,
  hopeless = false,
): ProbeSetback {
  return { kind: 'not-a-tool', reason, message, fix, isFinal: hopeless }
}

function describeErrorValue(value: unknown): string {
  const error = isObject(value) && Object.hasOwn(value, 'error') ? value['error'] : value
  return (typeof error === 'string' ? error : JSON.stringify(error)).slice(0, 200)
}

/** What a program said when it fell over, understood. */
type StderrDiagnosis = {
  readonly reason: 'crashed' | 'needs-permission' | 'wants-input'
  readonly message: string
  readonly fix: string
  /**
   * It fell over before it looked at its arguments, so that other questions would end the same way.
   */
  readonly isFinal: boolean
}

type DiagnosisRule = {
  readonly pattern: RegExp
  explain(match: RegExpExecArray, candidate: ProbeCandidate): StderrDiagnosis
}

/** Python packages that have another name than their module. */
const PYTHON_PACKAGES: { readonly [module: string]: string } = {
  yaml: 'pyyaml',
  PIL: 'pillow',
  cv2: 'opencv-python',
  bs4: 'beautifulsoup4',
  sklearn: 'scikit-learn',
  dateutil: 'python-dateutil',
  dotenv: 'python-dotenv',
  attr: 'attrs',
  Crypto: 'pycryptodome',
  serial: 'pyserial',
  git: 'gitpython',
}
const RESCAN_COMMAND = ' && toolable rescan'
const ANSWER_EARLY_FIX =
  'Let it look at its arguments first and answer, before it does anything else; or describe it in a YAML file beside it'

const DIAGNOSIS_RULES: readonly DiagnosisRule[] = [
  {
    pattern: /ModuleNotFoundError: No module named '([\w.]+)'/,
    explain: ([, module], candidate) =>
      toMissingModule(module!, buildPipCommand(module!, candidate)),
  },
  {
    pattern: /Cannot find (?:module|package) '([^'\n]{1,200})'/,
    explain: ([, module], { path }) =>
      toMissingModule(
        module!,
        isPackageName(module!)
          ? `npm install --prefix ${quoteForShell(dirname(path))} ${getPackageName(module!)}${RESCAN_COMMAND}`
          : `Put ${module} where ${path} looks for it, then: toolable rescan`,
      ),
  },
  {
    pattern: /cannot load such file -- (\w[\w./-]{0,199})/,
    explain: ([, module]) => toMissingModule(module!, `gem install ${module}${RESCAN_COMMAND}`),
  },
  {
    pattern: /Can't locate (\w[\w/]{0,199})\.pm in @INC/,
    explain: ([, module]) =>
      toMissingModule(
        module!.replaceAll('/', '::'),
        `cpan ${module!.replaceAll('/', '::')}${RESCAN_COMMAND}`,
      ),
  },
  {
    pattern: /^ImportError: (.{1,300})$/m,
    explain: ([, words], { command }) => ({
      reason: 'crashed',
      message: `It cannot import what it needs: ${words}`,
      fix: `Repair the installation of its packages; see: ${quoteCommandLine(command)} --help`,
      isFinal: true,
    }),
  },
  {
    pattern: /^((?:Syntax|Indentation|Tab)Error): (.{1,300})$/m,
    explain: ([, kind, words], { path, command }) => ({
      reason: 'crashed',
      message: `It cannot be read: ${kind}: ${words}`,
      fix: path.endsWith('.py')
        ? quoteCommandLine([command[0], '-m', 'py_compile', path])
        : `Run it by hand: ${quoteCommandLine(command)}`,
      isFinal: true,
    }),
  },
  {
    pattern: /(?:^|: )([\w.+-]{1,100}): (?:command )?not found$/m,
    explain: ([, program]) => ({
      reason: 'crashed',
      message: `It uses the program ${program}, which is not there`,
      fix: `Install ${program}, then: toolable rescan`,
      isFinal: false,
    }),
  },
  {
    pattern: /EOFError|EOF when reading|end of file on stdin/i,
    explain: () => ({
      reason: 'wants-input',
      message: 'It asks for input, and during discovery there is nobody to answer',
      fix: ANSWER_EARLY_FIX,
      isFinal: false,
    }),
  },
  {
    pattern: /Read-only file system|\bEROFS\b/,
    explain: () => ({
      reason: 'needs-permission',
      message:
        'It writes files when it is only asked what it is, which is not allowed during discovery',
      fix: ANSWER_EARLY_FIX,
      isFinal: false,
    }),
  },
  {
    pattern:
      /Network is unreachable|ENETUNREACH|Temporary failure in name resolution|EAI_AGAIN|ENOTFOUND|Name or service not known|Could not resolve host/,
    explain: () => ({
      reason: 'needs-permission',
      message:
        'It connects to the network when it is only asked what it is, which is not allowed during discovery',
      fix: ANSWER_EARLY_FIX,
      isFinal: false,
    }),
  },
]

/**
 * Understands what a program wrote to stderr before it ended with a failure; undefined where it
 * says nothing that is known.
 */
export function diagnoseStderr(
  stderr: string,
  candidate: ProbeCandidate,
): StderrDiagnosis | undefined {
  for (const { pattern, explain } of DIAGNOSIS_RULES) {
    const match = pattern.exec(stderr)
    if (match) return explain(match, candidate)
  }
  if (
    !/^Traceback \(most recent call last\):|^[ \t]+at .+:\d+:\d+\)?$|^panic: |^thread '.+' panicked/m.test(
      stderr,
    )
  )
    return undefined
  const line = stderr
    .trimEnd()
    .split('\n')
    .filter((text) => /^\S*(?:Error|Exception|panic|thread)\b/.test(text))
    .at(-1)
  return {
    reason: 'crashed',
    message: `It crashed: ${(line ?? getLastLine(stderr)).slice(0, 300)}`,
    fix: `Run it by hand: ${quoteCommandLine([...candidate.command, '{"__test__": true}'])}`,
    isFinal: false,
  }
}

/** The last thing that somebody said. */
function getLastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)!.trim().slice(0, 300)
}

function toMissingModule(module: string, fix: string): StderrDiagnosis {
  return { reason: 'crashed', message: `missing module ${module}`, fix, isFinal: true }
}

// Into the environment that runs it, where it has one; otherwise into the one that all tools of the
// folder share.
function buildPipCommand(module: string, { command: [python], path }: ProbeCandidate): string {
  const top = module.split('.', 1)[0]!
  const name = Object.hasOwn(PYTHON_PACKAGES, top) ? PYTHON_PACKAGES[top] : top
  if (/\/(?:\.?venv|shared_venv)\//.test(python))
    return `${quoteForShell(python)} -m pip install ${name}${RESCAN_COMMAND}`
  const shared = join(dirname(path), 'shared_venv')
  return `python3 -m venv ${quoteForShell(shared)} && ${quoteForShell(join(shared, 'bin', 'pip'))} install ${name}${RESCAN_COMMAND}`
}

function isPackageName(module: string): boolean {
  return /^(@\w[\w.-]*\/)?\w[\w.-]*(\/|$)/.test(module)
}

function getPackageName(module: string): string {
  return module
    .split('/')
    .slice(0, module.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Levels of a description; far more than any schema has that somebody can use. */
const MAX_ANSWER_DEPTH = 200

/** What a program printed, read as the one JSON document that it should be. */
export type ParsedStdout =
  | { readonly kind: 'document'; readonly value: unknown }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'two-documents' }
  | { readonly kind: 'too-deep' }
  /** `line` is the first one that is no JSON. */
  | { readonly kind: 'not-json'; readonly line: string; readonly besides: boolean }

/** Reads stdout: exactly one JSON document, with nothing before or after it. */
export function parseStdoutDocument(bytes: Buffer): ParsedStdout {
  const text = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim()
  if (text === '') return { kind: 'nothing' }
  const whole = tryParseJson(text)
  if (whole)
    return isDeeperThan(MAX_ANSWER_DEPTH, whole.value)
      ? { kind: 'too-deep' }
      : { kind: 'document', ...whole }
  const stranger = text.includes('\n') ? findNonJsonLine(text) : text
  if (stranger === undefined || isTwoDocuments(text)) return { kind: 'two-documents' }
  return {
    kind: 'not-json',
    line: stranger.trim().slice(0, 200),
    besides: /^[ \t]*[{[]/m.test(text),
  }
}

// Line by line instead of all at once, because the first one decides nearly always.
function findNonJsonLine(text: string): string | undefined {
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end === -1) end = text.length
    const line = text.slice(start, end)
    if (line.trim() !== '' && !tryParseJson(line)) return line
  }
  return undefined
}

// Documents over several lines: one ends where the next begins.
function isTwoDocuments(text: string): boolean {
  const border = /[}\]]\s*[{[]/.exec(text)
  return border !== null && tryParseJson(text.slice(0, border.index + 1)) !== undefined
}

function tryParseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
