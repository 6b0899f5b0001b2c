import type { Io } from '../../contract/io.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import type { Candidate, Completion } from '../../surfaces/cli/completion/completion.ts'

const TAKE_A_RUN = [
  'watch',
  'cancel',
  'answer',
  'resume',
  'runs show',
  'runs logs',
  'runs export',
  'workflow show',
  'workflow watch',
  'workflow cancel',
  'workflow answer',
  'workflow resume',
]
const MOST_RUNS = 50

/** The runs that the word under the cursor may become, newest first; undefined where it is no run. */
export function completeRuns(words: readonly string[], { cwd }: Io): Completion | undefined {
  const command = TAKE_A_RUN.find((each) => `${words.join(' ')} `.startsWith(`${each} `))
  const given = words.slice(command?.split(' ').length)
  const current = given.at(-1)
  if (command === undefined || current === undefined || current.startsWith('-')) return undefined
  // Only watch takes several, and behind a flag its value may stand.
  if (command.endsWith('watch') ? given.at(-2)?.startsWith('-') : given.length > 1) return undefined
  return {
    candidates: candidates(cwd).filter(({ value }) => value.startsWith(current)),
    directive: 'none',
  }
}

// Whoever completes wants no error.
function candidates(cwd: string): readonly Candidate[] {
  try {
    const runs = listRuns(findRunsFolder(cwd, undefined)).slice(0, MOST_RUNS)
    return runs.length === 0
      ? []
      : [
          { value: 'latest', description: 'The newest run' },
          ...runs.map(({ id, paths }) => ({ value: id, description: toolOf(paths) })),
        ]
  } catch {
    return []
  }
}

function toolOf(paths: Parameters<typeof readRequest>[0]): string {
  try {
    return readRequest(paths).tool
  } catch {
    return 'A run that cannot be read'
  }
}
