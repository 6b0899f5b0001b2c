import type { Prompt } from '../../define/prompt.ts'
import type { Resource } from '../../define/resource.ts'
import { documentsOf } from '../child/program-documents.ts'
import { readProgramBody } from './body.ts'
import { checkFile } from './check-file.ts'
import type { Home } from './home.ts'
import type { Trouble } from './outline.ts'
import type { Known } from './remember.ts'

/** Resources and prompts of executables that have some. */
export function documentsOfPrograms(
  home: Home,
  documented: readonly Known[],
  report: (known: Known, trouble: Trouble, severity: 'warning') => void,
): { readonly resources: readonly Resource[]; readonly prompts: readonly Prompt[] } {
  const all = documented.map((known) => {
    const { command, resources = [], prompts = [] } = readProgramBody(known.record.body)
    const { key } = known.candidate
    return documentsOf(
      {
        command: command!,
        resources,
        prompts,
        services: home.services,
        env: () => home.given,
        check: () => checkFile(home, known),
      },
      (what, { message }) =>
        report(
          known,
          {
            reason: 'unusable',
            message: `${key}: ${what} cannot be used: ${message}`,
            fix: 'Mend what the program says about it',
          },
          'warning',
        ),
    )
  })
  return {
    resources: all.flatMap(({ resources }) => resources),
    prompts: all.flatMap(({ prompts }) => prompts),
  }
}
