import { describe, expect, test } from 'vitest'
import { fixture } from '../../support/run-program.ts'
import { open, three } from '../embedded/light-support.ts'
import { startWorkflowProgram } from '../embedded/support.ts'
import { makeProject } from '../support.ts'
import '../../support/without-coverage.ts'

const TOOLS = `import { tool } from '${fixture('../../dist/index.js')}'\nconst make = (name) => tool({ name, summary: name, input: { type: 'object', additionalProperties: true }, run: (input) => ({ tool: name, ...input }) })\n${['one', 'a', 'b', 'c', 'three'].map((name) => `export const ${name} = make('${name}')\n`).join('')}`

describe('executions without a folder of their own', () => {
  test('are listed and shown, and those whose program died are taken up as runs, where the tools are there [9.workflow-list] [9.workflow-resume-all]', async () => {
    const project = makeProject({})
    const engine = await open(project.runs)
    const { id, done } = await engine.start(three, { n: 7 })
    await done
    const listed = await project.toolable(['workflow', 'list'])
    expect(listed.json.result.executions).toMatchObject([
      { run_id: id, name: 'three', state: 'completed', duration_s: expect.any(Number) },
    ])
    const shown = await project.toolable(['runs', 'show', id])
    expect(shown.json.result).toMatchObject({
      run_id: id,
      tool: 'workflow.three',
      state: 'completed',
      result: { tool: 'three' },
      steps: expect.arrayContaining([{ step: 'two/b', state: 'ok' }]),
    })

    const program = startWorkflowProgram('executes.mjs', [
      project.runs,
      project.path('counted'),
      '2',
      JSON.stringify({ hold: true }),
    ])
    await expect.poll(() => project.counted().length).toBe(2)
    program.kill('SIGKILL')
    await program.ended
    const left = (await project.toolable(['workflow', 'list', '--state', 'failed'])).json.result
      .executions
    expect(left).toMatchObject([{ code: 'E_INTERRUPTED' }, { code: 'E_INTERRUPTED' }])
    // This project has no such tools: they are left for the program that has.
    const refused = await project.toolable(['workflow', 'resume'])
    expect([refused.status, refused.stderr]).toEqual([
      73,
      expect.stringContaining('begun by another program'),
    ])

    project.write('tools.mjs', TOOLS)
    project.write('toolable.yaml', 'modules: [./tools.mjs]\n')
    const resumed = await project.toolable(['workflow', 'resume'])
    expect([resumed.status, resumed.lines.map(({ result }) => result.run_id).sort()]).toEqual([
      0,
      left.map(({ run_id }: any) => run_id).sort(),
    ])
    expect(
      (await project.toolable(['watch', ...left.map(({ run_id }: any) => run_id)])).status,
    ).toBe(0)
    const now = (await project.toolable(['workflow', 'list'])).json.result.executions
    expect(now.map(({ run_id, state }: any) => [run_id, state]).sort()).toEqual(
      [id, ...left.map(({ run_id }: any) => run_id)].map((one) => [one, 'completed']).sort(),
    )
    expect((await project.toolable(['workflow', 'resume'])).json.result).toEqual({ resumed: [] })
  })
})
