import type { Prompt } from '../../define/prompt.ts'
import type { Resource } from '../../define/resource.ts'
import type { Trouble } from './outline.ts'
import { readProgramBody } from './body.ts'
import type { Home } from './found-tools.ts'
import type { Known } from './remember.ts'
import { checkFile } from './found-tools.ts'

/** Resources and prompts of the executables that have some. */
export async function documentsOfPrograms(home: Home, programs: readonly Known[], report: (known: Known, trouble: Trouble, severity: 'warning') => void): Promise<{ readonly resources: readonly Resource[]; readonly prompts: readonly Prompt[] }> {
  const documented = programs.filter(({ outline }) => outline.is === 'tools' && outline.more)
  if (documented.length === 0) return { resources: [], prompts: [] }
  const { documentsOf } = await import('../child/program-documents.ts')
  const all = documented.map((known) => {
    const { command, resources = [], prompts = [] } = readProgramBody(known.record.body)
    const { key } = known.candidate
    return documentsOf({ command: command!, resources, prompts, services: home.services, env: () => home.given, check: () => checkFile(home, known) }, (what, { message }) => report(known, { reason: 'unusable', message: `${key}: ${what} cannot be used: ${message}`, fix: 'Mend what the program says about it' }, 'warning'))
  })
  return { resources: all.flatMap(({ resources }) => resources), prompts: all.flatMap(({ prompts }) => prompts) }
}
