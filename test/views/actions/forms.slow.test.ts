import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, symlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/util/values.ts'
import { cleanEnvironment, fixture } from '../../support/run-program.ts'
import '../../support/without-coverage.ts'
import { makeProject } from '../../workflow/support.ts'
import type { Project } from '../../workflow/support.ts'
import { TOOLABLE_PATH } from '../../support/toolable-program.ts'
import { failureOf, openDashboard, untilOver } from './support.ts'
import { withoutSlow } from '../../support/problems.ts'

const OWN = `#!${process.execPath}
import { appendFileSync } from 'node:fs'
import { tool, toolset } from './library/index.js'
const greet = tool({ name: 'greet', summary: 'Greets', input: { type: 'object', properties: { who: { type: 'string' }, more: { type: 'object' } }, required: ['who'] }, positional: ['who'], run: (input) => ({ greeted: input }) })
const drop = tool({ name: 'drop', summary: 'Drops', annotations: { destructive: true }, dryRun: true, input: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] }, run(input, ctx) {
  ctx.plan('drop', input.what)
  if (!ctx.dryRun) appendFileSync('${'FOLDER'}/dropped', input.what)
  return { dropped: input.what }
} })
await toolset({ name: 'own', version: '1.0.0', tools: [greet, drop] }).run(import.meta)
`

function makeForms(): Project {
  const project = makeProject({})
  const parameters =
    'parameters: {type: object, properties: {a: {type: string}, list: {type: array, items: {type: [string, integer]}}}}'
  project.write(
    'tools/answers.yaml',
    `name: answers\ndescription: Answers\ncommand: python\nentry: answers.py\n${parameters}\n`,
  )
  project.write('tools/answers.py', readFileSync(fixture('runner/answers-in-json.py'), 'utf8'))
  // A program that is asked what it is sees its own folder and no other one of those that come and
  // go, wherever the tests are run.
  cpSync(fixture('../../dist'), project.path('library'), {
    recursive: true,
    filter: (file) => !/\.map$|\/(?:types|dashboard)$/.test(file),
  })
  symlinkSync(fixture('../../node_modules'), project.path('library/node_modules'))
  chmodSync(project.write('own.mjs', OWN.replaceAll('FOLDER', project.folder)), 0o755)
  project.write(
    'toolable.yaml',
    `folders: [tools]\nprograms:\n  - {command: ${fixture('programs/packs-things.py')}, name: packs}\n  - ./own.mjs\n`,
  )
  return project
}

/** What a run gave back. */
function resultOf(project: Project, id: string): any {
  return project.log(id).find(({ type }) => type === 'result')?.['result']
}

/** Runs a command as a shell does; gives the id of its run. */
function paste(command: string, { folder }: Project): string {
  const { stdout } = spawnSync(
    '/bin/sh',
    ['-c', `toolable() { '${process.execPath}' '${TOOLABLE_PATH}' "$@"; }\n${command}`],
    { cwd: folder, env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] },
  )
  return (JSON.parse(stdout.toString().split('\n')[0]!) as { run_id: string }).run_id
}

describe('a tool in whatever form it takes its input', () => {
  test('gets the same from the form of a dashboard and from the command beside it, and again when it is retried [10.actions-start] [10.actions-retry] [10.catalogue-preview]', async () => {
    const project = makeForms()
    const { actions, catalogue } = openDashboard(project.folder)
    await expect
      .poll(async () => (await catalogue.tools()).tools.map(({ id }) => id).sort())
      .toEqual(['own.drop', 'own.greet', 'packs.count', 'packs.pack', 'tools.answers'])
    expect(withoutSlow((await catalogue.tools()).problems)).toEqual([])
    const cases: readonly (readonly [tool: string, input: JsonObject])[] = [
      ['own.greet', { who: "it's -- me", more: { deep: [1, null] } }],
      ['own.greet', { who: '-x' }],
      ['own.drop', { what: 'all of it' }],
      ['packs.pack', { target: 'a box', level: 'high', max_size: 3, label: ['x y', '$z'] }],
      ['packs.count', { box: ['-a', 'b'] }],
      ['tools.answers', { a: 'said in flags' }],
      ['tools.answers', { a: 'text with "quotes"', list: [1, 'two'] }],
    ]
    for (const [tool, input] of cases) {
      const preview = await catalogue.preview(tool, input)
      expect([preview.ok, preview.problems]).toEqual([true, []])
      const { run_id } = await actions.start({ tool, input, confirm: true })
      expect(await untilOver(project, run_id), JSON.stringify(project.log(run_id))).toMatchObject({
        state: 'completed',
      })
      const pasted = paste(preview.command, project)
      expect(
        [project.log(pasted).at(-1)!['state'], resultOf(project, pasted)],
        preview.command,
      ).toEqual(['completed', resultOf(project, run_id)])
      expect(resultOf(project, run_id)).toBeDefined()
      const again = await actions.retry(pasted, undefined, true)
      expect([
        (await untilOver(project, again.run_id))['state'],
        resultOf(project, again.run_id),
      ]).toEqual(['completed', resultOf(project, run_id)])
    }
    expect(project.counted('dropped')).toEqual(['all of itall of itall of it'])
  })

  test('hears of a dry run in its own way, or is refused [10.actions-dry-run]', async () => {
    const project = makeForms()
    const { actions, catalogue } = openDashboard(project.folder)
    expect(
      await Promise.all(
        ['own.drop', 'packs.pack', 'own.greet', 'packs.count'].map(
          async (id) => (await catalogue.tool(id)).dry_run,
        ),
      ),
    ).toEqual([true, true, true, false])
    const [own, help] = await Promise.all([
      actions.start({ tool: 'own.drop', input: { what: 'x' }, dry_run: true }),
      actions.start({ tool: 'packs.pack', input: { target: 't' }, dry_run: true }),
    ])
    await Promise.all([untilOver(project, own.run_id), untilOver(project, help.run_id)])
    expect(resultOf(project, own.run_id)).toEqual({ plan: [{ action: 'drop', target: 'x' }] })
    expect(JSON.stringify(project.log(help.run_id))).toContain('dry_run')
    expect(project.request(help.run_id).args).toContain('--dry-run')
    expect(
      await failureOf(actions.start({ tool: 'packs.count', input: {}, dry_run: true })),
    ).toMatchObject({ code: 'PRECONDITION' })
    const again = await actions.retry(own.run_id, undefined, false)
    await untilOver(project, again.run_id)
    expect(resultOf(project, again.run_id)).toEqual({ plan: [{ action: 'drop', target: 'x' }] })
    expect(project.counted('dropped')).toEqual([])
  })
})
