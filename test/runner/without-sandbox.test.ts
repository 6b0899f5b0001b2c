import { describe, expect, test } from 'vitest'
import { withoutBubblewrap } from '../support/without-bubblewrap.ts'
import { last, makeProject } from './support.ts'

const project = makeProject({
  'is-plain.sh': 'permissions: {network: none}\nresources: {memory_mb: 512}\n# plain',
})
const run = async (...args: string[]) => {
  const end = await withoutBubblewrap(['run', ...args], project.folder)
  const id: string = end.lines[0]?.run_id
  return { status: end.status, said: `${end.stdout}${end.stderr}`, log: project.log(id) }
}

describe('where bubblewrap is missing', () => {
  test('a tool with permissions is refused before it starts, with the fix [7.sandbox-refused] [7.level-decided]', async () => {
    const { status, said, log } = await run('is_plain')
    expect(status).toBe(69)
    expect(log.map(({ type }) => type)).toEqual(['runner_start', 'runner_error', 'runner_end'])
    expect(log[0]).toMatchObject({ refused: true })
    expect(last(log, 'runner_end')).toMatchObject({
      state: 'failed',
      code: 'E_SANDBOX_UNAVAILABLE',
    })
    expect(said).toContain(
      "'tools.is_plain' needs level L3, and this machine offers L1: There is no sandbox: bubblewrap is not installed",
    )
    expect(said).toContain('sudo apt-get install bubblewrap, or accept less: --allow-level L1')
  })

  test('it goes on where the caller accepts less, and the record says so [7.level-decided]', async () => {
    const { status, log } = await run('--allow-level', 'L1', 'is_plain')
    expect(status).toBe(0)
    expect(log[0]).toMatchObject({
      type: 'runner_start',
      level: 'L1',
      needed_level: 'L3',
      memory_held_by: 'watchdog',
      rights: expect.stringContaining('without a sandbox') as string,
    })
  })

  test('a policy can forbid to accept less, and is named with its line [7.level-decided]', async () => {
    project.write('toolable.policy.yaml', 'version: 1\nallow_level_override: false\n')
    const { status, said, log } = await run('--allow-level', 'L1', 'is_plain')
    expect(status).toBe(69)
    expect(said).toMatch(/toolable\.policy\.yaml:2.* allows no less/)
    expect(last(log, 'runner_end')).toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' })
  })
})
