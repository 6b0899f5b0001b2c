import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  createHandler,
  createState,
  guard,
  guards,
  registry,
  runner,
  section,
  sections,
  slice,
  tool,
  toolset,
  toolsetSection,
} from 'toolable'
import { runCli } from 'toolable/testing'
import { makeFolder } from '../../support/run-program.ts'

let runs = 0
const build = tool({ name: 'build', summary: 'Builds', run: () => 'built' })
const deploy = tool({ name: 'deploy', summary: 'Deploys', run: () => (runs += 1) })
const make = () =>
  toolset({
    name: 'ci',
    tools: [build, deploy],
    guards: [guards.sequence({ deploy: ['build'] })],
    state: createState(),
  })
const REFUSED = {
  ok: false,
  error: { code: 'PRECONDITION', message: "Tool 'deploy' requires: build" },
}

describe('guards of a toolset', () => {
  test('[8.guards-toolsets] hold for calls, streams, the command line, HTTP, a registry and a prompt', async () => {
    runs = 0
    expect(await make().call('deploy', {}, { guards: [] })).toMatchObject(REFUSED)
    const events = []
    for await (const event of make().stream('deploy')) events.push(event)
    expect(events.at(-1)).toMatchObject({ type: 'result', ...REFUSED })
    const shown = await runCli(make(), ['deploy', '--json'])
    expect([shown.exitCode, shown.outcome]).toEqual([1, expect.objectContaining({ ok: false })])
    const answer = await createHandler(make())(
      new Request('http://localhost/tools/deploy', {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      }),
    )
    expect([answer.status, await answer.json()]).toMatchObject([412, REFUSED])
    const all = await registry({ tools: [make()] })
    expect(await all.call('deploy')).toMatchObject(REFUSED)
    await all.close()
    const prompt = await sections({ name: 'p', sections: [toolsetSection(make())] }).render()
    expect(await prompt.call('deploy')).toMatchObject(REFUSED)
    expect(runs).toBe(0)
  })

  test('[8.guards-toolsets] remember on the state of the toolset, or on that of the caller', async () => {
    const set = make()
    await set.call('build')
    expect(await set.call('deploy')).toMatchObject({ ok: true })
    expect(await set.call('deploy', {}, { state: createState() })).toMatchObject(REFUSED)
    set.add(deploy, 'ship')
    expect(await set.call('ship')).toMatchObject({ ok: true })
  })

  test('[8.guards-toolsets] [8.guards-order] come before those of the caller, and a set around comes before the set inside', async () => {
    const asked: string[] = []
    const says = (name: string) => guard({ name, check: () => void asked.push(name) })
    const set = toolset({ name: 'one', tools: [build], guards: [says('set')] })
    const prompt = await sections({
      name: 'p',
      sections: [
        section({
          key: 'a',
          title: 'A',
          guards: [says('section')],
          children: [toolsetSection(set)],
        }),
      ],
    }).render()
    await prompt.call('build', {}, { guards: [says('call')] })
    expect(asked).toEqual(['set', 'call', 'section'])
  })

  test('[8.guards-closed] what is no guard is CONFIG when the toolset is made; what the caller gives in its place is no way around', async () => {
    for (const odd of [[undefined], () => undefined, [{ name: 'x' }]])
      expect(() => toolset({ name: 't', tools: [build], guards: odd as never })).toThrow(
        expect.objectContaining({ code: 'CONFIG' }),
      )
    for (const odd of [() => undefined, 5, 'x', null])
      expect(await make().call('deploy', {}, { guards: odd as never })).toMatchObject({ ok: false })
  })

  test('[8.guards-toolsets] a registry has guards too: they come first, know tools by the names of the registry, and stay after a look again', async () => {
    runs = 0
    const asked: string[] = []
    const says = (name: string) =>
      guard({ name, check: ({ tool: called }) => void asked.push(`${name} ${called}`) })
    const other = toolset({ name: 'other', tools: [deploy] })
    const all = await registry({
      tools: [toolset({ name: 'one', tools: [build, deploy], guards: [says('set')] }), other],
      guards: [says('registry'), guards.sequence({ deploy: ['build'] })],
      state: createState(),
      cache: false,
    })
    expect(await all.call('deploy', {}, { guards: [] })).toMatchObject(REFUSED)
    for await (const event of all.stream('deploy'))
      expect(event).toMatchObject({ type: 'result', ...REFUSED })
    expect(
      await all.handleToolCall({
        id: 'c',
        type: 'function',
        function: { name: 'deploy', arguments: '{}' },
      }),
    ).toMatchObject({ content: expect.stringContaining('requires: build') })
    await all.rescan()
    expect(await all.call('deploy')).toMatchObject(REFUSED)
    asked.length = 0
    await all.call('build', {}, { guards: [says('call')] })
    await all.call('other.deploy')
    expect(asked).toEqual([
      'registry build',
      'set build',
      'call build',
      `registry ${all.find('other.deploy')!.name}`,
    ])
    expect(await all.call('deploy')).toMatchObject({ ok: true })
    await all.close()
    for (const odd of [[undefined], () => undefined, [{ name: 'x' }]])
      await expect(registry({ tools: [build], guards: odd as never })).rejects.toMatchObject({
        code: 'CONFIG',
      })
  })

  test('[8.guards-toolsets] a toolset in a registry keeps its state where the registry has none, and the nearest state to the caller counts', async () => {
    const says = guard({ name: 'says', check: () => undefined })
    const keeps = await registry({ tools: [make()], guards: [says], cache: false })
    await keeps.call('build')
    expect(await keeps.call('deploy')).toMatchObject({ ok: true })
    const shared = createState()
    const set = make()
    const has = await registry({ tools: [set], state: shared, cache: false })
    await has.call('build')
    expect(await has.call('deploy')).toMatchObject({ ok: true })
    expect(Object.keys(shared.toJSON().slices)).toEqual(['toolable.guards.done'])
    expect(await set.call('deploy')).toMatchObject(REFUSED)
    expect(await has.call('deploy', {}, { state: createState() })).toMatchObject(REFUSED)
    for (const all of [keeps, has]) await all.close()
  })

  test('[8.guards-toolsets] tools of other programs are guarded too, and a run, which would not ask, is refused', async () => {
    const folder = makeFolder()
    writeFileSync(
      join(folder, 'hello.sh'),
      '#!/bin/sh\n[ "$1" = \'{"__test__": true}\' ] && { echo \'{"success": true, "_simple": true}\'; exit; }\necho \'{"hello": true}\'\n',
      { mode: 0o755 },
    )
    const open = (isGuarded: boolean) =>
      registry({
        folders: [folder],
        cache: false,
        probe: { unsandboxed: true },
        ...(isGuarded && { guards: [guards.rate({ calls: 1, per: '1h' })], state: createState() }),
      })
    const [guarded, free] = await Promise.all([open(true), open(false)])
    expect(await guarded.call('hello')).toMatchObject({ ok: true, result: { hello: true } })
    expect(await guarded.call('hello')).toMatchObject({ ok: false, error: { code: 'RATE_LIMIT' } })
    const runsOf = (all: typeof free) =>
      runner({ registry: all, folder: join(folder, '.runs'), cwd: folder })
    await expect(runsOf(guarded).start('hello', { input: {} })).rejects.toMatchObject({
      code: 'PRECONDITION',
      message: expect.stringContaining('has guards'),
    })
    expect(await (await runsOf(free).start('hello', { input: {} })).done).toMatchObject({
      state: 'completed',
    })
    for (const all of [guarded, free]) await all.close()
  })

  test('calls without state of their own share that of the toolset', async () => {
    const notes = slice<number>('notes')
    const set = toolset({
      name: 'notes',
      state: createState(),
      tools: [
        tool({
          name: 'add',
          summary: 'Adds',
          run: (_input, ctx) => {
            ctx.state.get(notes).append(1)
            return ctx.state.get(notes).all().length
          },
        }),
      ],
    })
    await set.call('add')
    expect(await set.call('add')).toMatchObject({ result: 2 })
  })
})
