import { dirname, join } from 'node:path'
import { quoteAllForShell, quoteForShell } from '../../contract/quote-for-shell.ts'
import type { Candidate } from './verdict.ts'

/** What a program said when it fell over, understood. */
export type Complaint = {
  readonly reason: 'crashed' | 'needs-permission' | 'wants-input'
  readonly message: string
  readonly fix: string
  /** It fell over before it looked at its arguments, so that other questions would end the same way. */
  readonly hopeless: boolean
}

type Rule = {
  readonly pattern: RegExp
  explain(match: RegExpExecArray, candidate: Candidate): Complaint
}

/** Python packages that have another name than their module. */
const PACKAGES: { readonly [module: string]: string } = {
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
const AGAIN = ' && toolable rescan'
const EARLY =
  'Let it look at its arguments first and answer, before it does anything else; or describe it in a YAML file beside it'

const RULES: readonly Rule[] = [
  {
    pattern: /ModuleNotFoundError: No module named '([\w.]+)'/,
    explain: ([, module], candidate) => missingModule(module!, pipInstall(module!, candidate)),
  },
  {
    pattern: /Cannot find (?:module|package) '([^'\n]{1,200})'/,
    explain: ([, module], { path }) =>
      missingModule(
        module!,
        isPackage(module!)
          ? `npm install --prefix ${quoteForShell(dirname(path))} ${packageOf(module!)}${AGAIN}`
          : `Put ${module} where ${path} looks for it, then: toolable rescan`,
      ),
  },
  {
    pattern: /cannot load such file -- (\w[\w./-]{0,199})/,
    explain: ([, module]) => missingModule(module!, `gem install ${module}${AGAIN}`),
  },
  {
    pattern: /Can't locate (\w[\w/]{0,199})\.pm in @INC/,
    explain: ([, module]) =>
      missingModule(module!.replaceAll('/', '::'), `cpan ${module!.replaceAll('/', '::')}${AGAIN}`),
  },
  {
    pattern: /^ImportError: (.{1,300})$/m,
    explain: ([, words], { command }) => ({
      reason: 'crashed',
      message: `It cannot import what it needs: ${words}`,
      fix: `Repair the installation of its packages; see: ${quoteAllForShell(command)} --help`,
      hopeless: true,
    }),
  },
  {
    pattern: /^((?:Syntax|Indentation|Tab)Error): (.{1,300})$/m,
    explain: ([, kind, words], { path, command }) => ({
      reason: 'crashed',
      message: `It cannot be read: ${kind}: ${words}`,
      fix: path.endsWith('.py')
        ? quoteAllForShell([command[0], '-m', 'py_compile', path])
        : `Run it by hand: ${quoteAllForShell(command)}`,
      hopeless: true,
    }),
  },
  {
    pattern: /(?:^|: )([\w.+-]{1,100}): (?:command )?not found$/m,
    explain: ([, program]) => ({
      reason: 'crashed',
      message: `It uses the program ${program}, which is not there`,
      fix: `Install ${program}, then: toolable rescan`,
      hopeless: false,
    }),
  },
  {
    pattern: /EOFError|EOF when reading|end of file on stdin/i,
    explain: () => ({
      reason: 'wants-input',
      message: 'It asks for input, and during discovery there is nobody to answer',
      fix: EARLY,
      hopeless: false,
    }),
  },
  {
    pattern: /Read-only file system|\bEROFS\b/,
    explain: () => ({
      reason: 'needs-permission',
      message:
        'It writes files when it is only asked what it is, which is not allowed during discovery',
      fix: EARLY,
      hopeless: false,
    }),
  },
  {
    pattern:
      /Network is unreachable|ENETUNREACH|Temporary failure in name resolution|EAI_AGAIN|ENOTFOUND|Name or service not known|Could not resolve host/,
    explain: () => ({
      reason: 'needs-permission',
      message:
        'It connects to the network when it is only asked what it is, which is not allowed during discovery',
      fix: EARLY,
      hopeless: false,
    }),
  },
]

/** Understands what a program wrote to stderr before it ended with a failure; undefined where it says nothing that is known. */
export function understandComplaint(stderr: string, candidate: Candidate): Complaint | undefined {
  for (const { pattern, explain } of RULES) {
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
    message: `It crashed: ${(line ?? lastLine(stderr)).slice(0, 300)}`,
    fix: `Run it by hand: ${quoteAllForShell([...candidate.command, '{"__test__": true}'])}`,
    hopeless: false,
  }
}

/** The last thing that somebody said. */
export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)!.trim().slice(0, 300)
}

function missingModule(module: string, fix: string): Complaint {
  return { reason: 'crashed', message: `missing module ${module}`, fix, hopeless: true }
}

// Into the environment that runs it, where it has one; otherwise into the one that all tools of the folder share.
function pipInstall(module: string, { command: [python], path }: Candidate): string {
  const top = module.split('.', 1)[0]!
  const name = Object.hasOwn(PACKAGES, top) ? PACKAGES[top] : top
  if (/\/(?:\.?venv|shared_venv)\//.test(python))
    return `${quoteForShell(python)} -m pip install ${name}${AGAIN}`
  const shared = join(dirname(path), 'shared_venv')
  return `python3 -m venv ${quoteForShell(shared)} && ${quoteForShell(join(shared, 'bin', 'pip'))} install ${name}${AGAIN}`
}

function isPackage(module: string): boolean {
  return /^(@\w[\w.-]*\/)?\w[\w.-]*(\/|$)/.test(module)
}

function packageOf(module: string): string {
  return module
    .split('/')
    .slice(0, module.startsWith('@') ? 2 : 1)
    .join('/')
}
