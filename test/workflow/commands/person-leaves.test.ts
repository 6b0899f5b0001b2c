import { describe, expect, test } from 'vitest'
import { KEYS, runInTerminal } from '../../support/run-in-terminal.ts'
import { TOOLABLE } from '../../support/toolable-program.ts'
import '../../support/without-coverage.ts'
import { makeProject } from '../support.ts'

const asks = (more: string): string =>
  `name: ask\nsteps:\n  - {name: go, type: ai_decision, decision_type: go, instruction: Go on?, options: [yes, no]${more}}\n  - {name: sure, wait: {answer: {prompt: Sure?, default: certainly}}}\n`

describe('a person who ends the input at a question', () => {
  test.each(['tty', 'plain'])(
    'is nobody from then on: defaults are taken, and without one the run names the command that goes on (%s) [7.nobody]',
    async (progress) => {
      const project = makeProject()
      project.write('default.yaml', asks(', default: no'))
      project.write('none.yaml', asks(''))
      const at = {
        cwd: project.folder,
        columns: 200,
        env: { NO_COLOR: '1' },
        steps: [{ wait: '> ', send: KEYS.end }],
      }
      const taken = await runInTerminal(
        TOOLABLE,
        ['workflow', 'run', 'default.yaml', '--progress', progress],
        at,
      )
      expect([taken.status, taken.screen.match(/certainly/g)?.length]).toEqual([
        0,
        expect.any(Number),
      ])
      // Who is gone is not asked again.
      expect(taken.screen).not.toContain('Sure? (certainly)')
      const failed = await runInTerminal(
        TOOLABLE,
        ['workflow', 'run', 'none.yaml', '--progress', progress],
        at,
      )
      expect(failed.status).toBe(77)
      expect(failed.screen).toMatch(/toolable \w+ ?\w* r-[0-9a-f]{10} --answer go=yes/)
    },
  )

  test('is told how a run is answered that waits for others [7.nobody]', async () => {
    const project = makeProject()
    project.write('none.yaml', asks(''))
    const seen = await runInTerminal(TOOLABLE, ['workflow', 'run', 'none.yaml', '--wait'], {
      cwd: project.folder,
      columns: 200,
      env: { NO_COLOR: '1' },
      steps: [
        { wait: '> ', send: KEYS.end },
        { wait: 'the run waits for: toolable answer r-', send: KEYS.interrupt },
      ],
    })
    expect(seen.status).toBe(130)
  })
})
