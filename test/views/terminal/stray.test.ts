import { describe, expect, test } from 'vitest'
import { makeProject } from '../../workflow/support.ts'
import type { Project } from '../../workflow/support.ts'
import '../../support/without-coverage.ts'
import { openWindow } from './tmux.ts'

const MODULE = `import { setTimeout as wait } from 'node:timers/promises'
import { tool } from ${JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href)}
const said = async (who, print) => {
  for (let index = 0; index < 4; index++) {
    print(who + ' line ' + index)
    await wait(150)
  }
  process.stdout.write('\\u001b[2J\\u001b[H' + who + ' without an end')
  return 'done'
}
const input = { type: 'object', properties: { who: { type: 'string' } } }
export const noisy = tool({ name: 'noisy', summary: 'Prints', input, run: ({ who = 'a' }) => said(who, console.error) })
export const chatty = tool({ name: 'chatty', summary: 'Prints too', input, run: ({ who = 'b' }) => said(who, console.log) })
`
const LINES = (who: string): string =>
  [
    ...Array.from({ length: 4 }, (_, index) => `${who} line ${index}`),
    `${who} without an end`,
  ].join('\n')

function makeNoisy(): Project {
  const project = makeProject()
  project.write('mod.mjs', MODULE)
  project.write('toolable.yaml', 'modules: [./mod.mjs]\n')
  return project
}

describe('what a tool in this process prints', () => {
  test('stands above the live tree, and in the log of its run, and steers no terminal [10.tree-stray]', async () => {
    const project = makeNoisy()
    const seen = await openWindow(['run', 'noisy'], { cwd: project.folder })
    expect(await seen.ended()).toBe(0)
    const screen = await seen.look(true)
    expect(screen).toMatch(new RegExp(`^${LINES('a')}\n✓ mod\\.noisy completed`))
    const { stdout } = await project.toolable(['runs', 'logs', 'latest', '--stderr', '-o', 'text'])
    expect(stdout).toBe(`${LINES('a')}\n`)
    expect(
      project
        .log(project.ids()[0]!)
        .filter(({ type }) => type === 'diagnostic')
        .map(({ reason }) => reason),
    ).toEqual(Array(5).fill('stderr'))
  })

  test('stands above the line of a call [10.tree-stray]', async () => {
    const project = makeNoisy()
    const seen = await openWindow(['call', 'chatty'], { cwd: project.folder })
    expect(await seen.ended()).toBe(0)
    expect(await seen.look(true)).toMatch(new RegExp(`^${LINES('b')}\ndone\n`))
  })

  test('belongs to the workflow whose steps print at the same time [10.tree-stray]', async () => {
    const project = makeNoisy()
    project.write(
      'both.yaml',
      'name: both\nsteps:\n  - {name: p, tasks: [{name: a, tool: noisy}, {name: b, tool: chatty}]}\n',
    )
    const ended = await project.toolable(['workflow', 'run', 'both.yaml'])
    expect([ended.status, ended.stderr]).toEqual([0, ''])
    const said = ended.lines
      .filter(({ type }) => type === 'diagnostic')
      .map(({ line }) => line as string)
    expect(said.filter((line) => line.startsWith('a line'))).toHaveLength(4)
    expect(said.filter((line) => line.startsWith('b line'))).toHaveLength(4)
  })
})
