import { describe, expect, test } from 'vitest'
import { createHandler, createState, guard, guards, registry, section, sections, slice, tool, toolset, toolsetSection } from 'toolable'
import { runCli } from 'toolable/testing'

let runs = 0
const build = tool({ name: 'build', summary: 'Builds', run: () => 'built' })
const deploy = tool({ name: 'deploy', summary: 'Deploys', run: () => (runs += 1) })
const make = () => toolset({ name: 'ci', tools: [build, deploy], guards: [guards.sequence({ deploy: ['build'] })], state: createState() })
const REFUSED = { ok: false, error: { code: 'PRECONDITION', message: "Tool 'deploy' requires: build" } }

describe('guards of a toolset', () => {
  test('[8.guards-toolsets] hold for calls, streams, the command line, HTTP, a registry and a prompt', async () => {
    runs = 0
    expect(await make().call('deploy', {}, { guards: [] })).toMatchObject(REFUSED)
    const events = []
    for await (const event of make().stream('deploy')) events.push(event)
    expect(events.at(-1)).toMatchObject({ type: 'result', ...REFUSED })
    const shown = await runCli(make(), ['deploy', '--json'])
    expect([shown.exitCode, shown.outcome]).toEqual([1, expect.objectContaining({ ok: false })])
    const answer = await createHandler(make())(new Request('http://localhost/tools/deploy', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }))
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
    const prompt = await sections({ name: 'p', sections: [section({ key: 'a', title: 'A', guards: [says('section')], children: [toolsetSection(set)] })] }).render()
    await prompt.call('build', {}, { guards: [says('call')] })
    expect(asked).toEqual(['set', 'call', 'section'])
  })

  test('[8.guards-closed] what is no guard is CONFIG when the toolset is made; what the caller gives in its place is no way around', async () => {
    for (const odd of [[undefined], () => undefined, [{ name: 'x' }]]) expect(() => toolset({ name: 't', tools: [build], guards: odd as never })).toThrow(expect.objectContaining({ code: 'CONFIG' }))
    for (const odd of [() => undefined, 5, 'x', null]) expect(await make().call('deploy', {}, { guards: odd as never })).toMatchObject({ ok: false })
  })

  test('calls without state of their own share that of the toolset', async () => {
    const notes = slice<number>('notes')
    const set = toolset({ name: 'notes', state: createState(), tools: [tool({ name: 'add', summary: 'Adds', run: (_input, ctx) => { ctx.state.get(notes).append(1); return ctx.state.get(notes).all().length } })] })
    await set.call('add')
    expect(await set.call('add')).toMatchObject({ result: 2 })
  })
})
