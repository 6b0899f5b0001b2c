/**
 * Explains why a program is not a tool, and what to do about it.
 */

import { dirname, join } from 'node:path'
import type { ChildEnd } from '../../process/child.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { quoteCommandLine, quoteForShell } from '../../util/text.ts'
import { isDeeperThan, isObject, tryParseJson } from '../../util/values.ts'
import type { ProbeCandidate, ProbeQuestion, ProbeRefusal, ProbeRefusalReason } from './ask.ts'
import { REFUSAL_REASONS, WANTED_ANSWER_MS } from './ask.ts'

/** A refusal, and whether other questions can still change it. */
export type ProbeSetback = ProbeRefusal & { readonly isFinal: boolean }

const ANSWER_FIX = `Let it print {"success": true, "_simple": true} when its only argument is '{"__test__": true}', or describe it in a YAML file beside it`
const PURE_STDOUT_FIX = 'Print one JSON document to stdout and everything else to stderr'

/** Why an answer does not make its candidate a tool. */
export function explainAnswer(
  candidate: ProbeCandidate,
  question: ProbeQuestion,
  end: ChildEnd,
  output: ParsedStdout,
): ProbeSetback {
  const asked = question.args.join(' ')
  switch (end.reason) {
    case 'exited':
      return explainFailure(candidate, question, end) ?? explainOutput(asked, end, output)
    case 'cancelled':
      return toSetback('cancelled', 'The probing was cancelled', 'toolable rescan', true)
    case 'not-started':
      return toStartSetback(end.problem)
    case 'timeout':
      return toSetback(
        'slow',
        `It gave no answer to ${asked} within ${question.timeoutMs / 1000} s; ${WANTED_ANSWER_MS} ms are wanted`,
        'Look at the arguments first and answer, before heavy imports, loops or servers; or describe it in a YAML file beside it',
      )
    default:
      return toSetback(
        'too-much-output',
        `It answered ${asked} with more than 4 MiB`,
        PURE_STDOUT_FIX,
      )
  }
}

function explainFailure(
  candidate: ProbeCandidate,
  { args }: ProbeQuestion,
  { status, signal, stderr }: ChildEnd,
): ProbeSetback | undefined {
  if (status === 0) return undefined
  const diagnosis = diagnoseStderr(stderr.toString(), candidate)
  if (diagnosis) return diagnosis
  if (signal === null && (status ?? 0) <= 128) return undefined
  return toSetback(
    'crashed',
    `It was ended by ${signal ?? `signal ${status! - 128}`} when it was asked ${args.join(' ')}`,
    `Run it by hand: ${quoteCommandLine([...candidate.command, ...args])}`,
  )
}

function explainOutput(
  asked: string,
  { status, stderr }: ChildEnd,
  output: ParsedStdout,
): ProbeSetback {
  const answered = `It answered ${asked} with`
  switch (output.kind) {
    case 'two-documents':
      return toSetback(
        'two-documents',
        `${answered} several JSON documents; one is wanted`,
        PURE_STDOUT_FIX,
      )
    case 'too-deep':
      return toSetback(
        'not-json',
        `${answered} JSON that is nested more than ${MAX_ANSWER_DEPTH} levels deep`,
        ANSWER_FIX,
      )
    case 'not-json':
      return output.besides
        ? toSetback('not-json', `${answered} text besides JSON: ${output.line}`, PURE_STDOUT_FIX)
        : toSetback('not-json', `${answered} text that is not JSON: ${output.line}`, ANSWER_FIX)
    case 'document': {
      const shown = JSON.stringify(output.value).slice(0, 100)
      const error = describeErrorValue(output.value)
      return status === 0
        ? toSetback('not-json', `${answered} JSON that describes nothing: ${shown}`, ANSWER_FIX)
        : toSetback(
            'refused',
            `It refused ${asked} with exit status ${status}: ${error}`,
            ANSWER_FIX,
          )
    }
    case 'nothing': {
      const words = stderr.toString().trim()
      const reason = words === '' ? '' : `: ${getLastLine(words)}`
      const exit = status === 0 ? '' : ` (exit status ${status}${reason})`
      return toSetback(
        'no-answer',
        `It does not answer the questions that tools answer${exit}`,
        ANSWER_FIX,
      )
    }
  }
}

/** The most telling setback; of equal ones the first. */
export function pickWeightiest(setbacks: readonly ProbeSetback[]): ProbeRefusal {
  const getWeight = ({ reason }: ProbeSetback): number => REFUSAL_REASONS.indexOf(reason)
  const sorted = setbacks.toSorted((left, right) => getWeight(left) - getWeight(right))
  const { isFinal: _isFinal, ...refusal } = sorted[0]!
  return refusal
}

/** The refusal of a candidate whose answer made the reader throw. */
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
  const error = ToolError.is(problem) ? problem : undefined
  if (error?.code === 'SANDBOX_UNAVAILABLE') return toNoSandboxSetback(error)
  const reason = error?.code === 'PERMISSION' ? 'needs-permission' : 'not-started'
  const fix = error?.suggestion?.fix ?? 'Run it by hand to see why'
  return toSetback(reason, problem?.message ?? 'It cannot be started', fix, true)
}

function toSetback(
  reason: ProbeRefusalReason,
  message: string,
  fix: string,
  isFinal = false,
): ProbeSetback {
  return { kind: 'not-a-tool', reason, message, fix, isFinal }
}

function describeErrorValue(value: unknown): string {
  const error = isObject(value) && Object.hasOwn(value, 'error') ? value['error'] : value
  return (typeof error === 'string' ? error : JSON.stringify(error)).slice(0, 200)
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

/** Final where the program fails before it looks at its arguments: every question ends like that. */
const DIAGNOSIS_RULES: readonly {
  readonly pattern: RegExp
  explain(match: RegExpExecArray, candidate: ProbeCandidate): ProbeSetback
}[] = [
  {
    pattern: /ModuleNotFoundError: No module named '([\w.]+)'/,
    explain: ([, module], candidate) =>
      toMissingModule(module!, buildPipCommand(module!, candidate)),
  },
  {
    pattern: /Cannot find (?:module|package) '([^'\n]{1,200})'/,
    explain: ([, module], { path }) => {
      const name = /^(?:@\w[\w.-]*\/)?\w[\w.-]*(?=\/|$)/.exec(module!)?.[0]
      const fix =
        name === undefined
          ? `Put ${module} where ${path} looks for it, then: toolable rescan`
          : `npm install --prefix ${quoteForShell(dirname(path))} ${name}${RESCAN_COMMAND}`
      return toMissingModule(module!, fix)
    },
  },
  {
    pattern: /cannot load such file -- (\w[\w./-]{0,199})/,
    explain: ([, module]) => toMissingModule(module!, `gem install ${module}${RESCAN_COMMAND}`),
  },
  {
    pattern: /Can't locate (\w[\w/]{0,199})\.pm in @INC/,
    explain: ([, file]) => {
      const module = file!.replaceAll('/', '::')
      return toMissingModule(module, `cpan ${module}${RESCAN_COMMAND}`)
    },
  },
  {
    pattern: /^ImportError: (.{1,300})$/m,
    explain: ([, words], { command }) =>
      toSetback(
        'crashed',
        `It cannot import what it needs: ${words}`,
        `Repair the installation of its packages; see: ${quoteCommandLine(command)} --help`,
        true,
      ),
  },
  {
    pattern: /^((?:Syntax|Indentation|Tab)Error): (.{1,300})$/m,
    explain: ([, kind, words], { path, command }) =>
      toSetback(
        'crashed',
        `It cannot be read: ${kind}: ${words}`,
        path.endsWith('.py')
          ? quoteCommandLine([command[0], '-m', 'py_compile', path])
          : `Run it by hand: ${quoteCommandLine(command)}`,
        true,
      ),
  },
  {
    pattern: /(?:^|: )([\w.+-]{1,100}): (?:command )?not found$/m,
    explain: ([, program]) =>
      toSetback(
        'crashed',
        `It uses the program ${program}, which is not there`,
        `Install ${program}, then: toolable rescan`,
      ),
  },
  {
    pattern: /EOFError|EOF when reading|end of file on stdin/i,
    explain: () =>
      toSetback(
        'wants-input',
        'It asks for input, and during discovery there is nobody to answer',
        ANSWER_EARLY_FIX,
      ),
  },
  {
    pattern: /Read-only file system|\bEROFS\b/,
    explain: () => toNeedsPermission('It writes files'),
  },
  {
    pattern:
      /Network is unreachable|ENETUNREACH|Temporary failure in name resolution|EAI_AGAIN|ENOTFOUND|Name or service not known|Could not resolve host/,
    explain: () => toNeedsPermission('It connects to the network'),
  },
]

const STACK_TRACE =
  /^Traceback \(most recent call last\):|^[ \t]+at .+:\d+:\d+\)?$|^panic: |^thread '.+' panicked/m

/**
 * Explains what a program wrote to stderr before it failed; undefined where it matches no rule and
 * has no stack trace.
 */
export function diagnoseStderr(
  stderr: string,
  candidate: ProbeCandidate,
): ProbeSetback | undefined {
  for (const { pattern, explain } of DIAGNOSIS_RULES) {
    const match = pattern.exec(stderr)
    if (match) return explain(match, candidate)
  }
  if (!STACK_TRACE.test(stderr)) return undefined
  const line = stderr
    .trimEnd()
    .split('\n')
    .findLast((text) => /^\S*(?:Error|Exception|panic|thread)\b/.test(text))
  return toSetback(
    'crashed',
    `It crashed: ${(line ?? getLastLine(stderr)).slice(0, 300)}`,
    `Run it by hand: ${quoteCommandLine([...candidate.command, '{"__test__": true}'])}`,
  )
}

function getLastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)!.trim().slice(0, 300)
}

function toMissingModule(module: string, fix: string): ProbeSetback {
  return toSetback('crashed', `missing module ${module}`, fix, true)
}

function toNeedsPermission(action: string): ProbeSetback {
  const message = `${action} when it is only asked what it is, which is not allowed during discovery`
  return toSetback('needs-permission', message, ANSWER_EARLY_FIX)
}

// Into its own environment, where it has one; otherwise into the one that all tools of the folder
// share.
function buildPipCommand(module: string, { command: [python], path }: ProbeCandidate): string {
  const top = module.split('.', 1)[0]!
  const name = Object.hasOwn(PYTHON_PACKAGES, top) ? PYTHON_PACKAGES[top] : top
  if (/\/(?:\.?venv|shared_venv)\//.test(python))
    return `${quoteForShell(python)} -m pip install ${name}${RESCAN_COMMAND}`
  const shared = join(dirname(path), 'shared_venv')
  return `python3 -m venv ${quoteForShell(shared)} && ${quoteForShell(join(shared, 'bin', 'pip'))} install ${name}${RESCAN_COMMAND}`
}

/** Levels of a description; far more than a usable schema has. */
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
  const value = tryParseJson(text)
  if (value !== undefined)
    return isDeeperThan(MAX_ANSWER_DEPTH, value)
      ? { kind: 'too-deep' }
      : { kind: 'document', value }
  const line = text.includes('\n') ? findNonJsonLine(text) : text
  if (line === undefined || isTwoDocuments(text)) return { kind: 'two-documents' }
  const besides = /^[ \t]*[{[]/m.test(text)
  return { kind: 'not-json', line: line.trim().slice(0, 200), besides }
}

// Line by line, because the first one nearly always decides.
function findNonJsonLine(text: string): string | undefined {
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end === -1) end = text.length
    const line = text.slice(start, end)
    if (line.trim() !== '' && tryParseJson(line) === undefined) return line
  }
  return undefined
}

// Documents over several lines: one ends where the next begins.
function isTwoDocuments(text: string): boolean {
  const border = /[}\]]\s*[{[]/.exec(text)
  return border !== null && tryParseJson(text.slice(0, border.index + 1)) !== undefined
}
