import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { registry } from 'toolable'
import type { RegistryOptions } from 'toolable'
import { expect, test } from 'vitest'
import { isAlive, listNaming } from '../support/processes.ts'
import { fixture, makeFolder } from '../support/run-program.ts'

function folderOfTools(files: { readonly [name: string]: string }): string {
  const folder = makeFolder()
  mkdirSync(join(folder, 'tools'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'tools', name), text)
  return folder
}

test('[6.folder-watch] what changes while a watched folder is looked at is not missed', async () => {
  const folder = folderOfTools({ 'slow.sh': 'sleep 1\n' })
  const opening = registry({ cwd: folder, folders: [{ path: 'tools', watch: true }], cache: false })
  await expect.poll(() => listNaming(join(folder, 'tools', 'slow.sh')).length).toBeGreaterThan(0)
  writeFileSync(join(folder, 'tools', 'late.sh'), '# toolable: {"name": "late"}\n')
  const reg = await opening
  try {
    await expect.poll(() => reg.list().map(({ name }) => name)).toEqual(['late'])
  } finally {
    await reg.close()
  }
})

test('[6.changes-calm] a server that tells of changes all the time is listed one at a time, now and then', async () => {
  const reg = await registry({
    mcpServers: {
      wild: { command: process.execPath, args: [fixture('servers/storms-with-changes.mjs')] },
    },
  })
  try {
    const counts = []
    for (let call = 0; call < 5; call += 1)
      counts.push(((await reg.call('storm', {})) as { result: { lists: number } }).result.lists)
    // The first look, one for the changes, and whatever half seconds have passed on a busy machine.
    expect(counts.at(-1)).toBeLessThan(30)
  } finally {
    await reg.close()
  }
})

test('[6.servers-leave-nothing] a registry that is closed while it looks again leaves no server behind', async () => {
  const folder = folderOfTools({})
  const mark = join(folder, 'pid')
  const reg = await registry({ cwd: folder, folders: ['tools'], cache: false })
  writeFileSync(
    join(folder, 'tools', 'server.mjs'),
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(mark)}, String(process.pid))\nawait import(${JSON.stringify(pathToFileURL(fixture('servers/answers-plainly.mjs')).href)})\n`,
  )
  writeFileSync(
    join(folder, 'tools', 'server.yaml'),
    'name: hand\ncommand: mcp\nentry: server.mjs\n',
  )
  const again = reg.rescan()
  await Promise.allSettled([reg.close(), again])
  expect(listNaming(join(folder, 'tools', 'server.mjs'))).toEqual([])
  if (existsSync(mark)) expect(isAlive(Number(readFileSync(mark, 'utf8')))).toBe(false)
})

const failing = (
  how: 'die' | 'stall',
  mark: string,
): NonNullable<RegistryOptions['mcpServers']> => ({
  moody: {
    command: process.execPath,
    args: [fixture('servers/fails-at-its-second-list.mjs'), how, mark],
  },
})

test('[6.servers-leave-nothing] a rescan that ends after close leaves the catalogue as it was', async () => {
  const mark = join(makeFolder(), 'mark')
  const reg = await registry({ mcpServers: failing('stall', mark) })
  const again = reg.rescan()
  await expect.poll(() => existsSync(mark)).toBe(true)
  await reg.close()
  await again
  expect(reg.list().map(({ id }) => id)).toEqual(['moody.echo'])
  expect(reg.problems()).toEqual([])
  expect(await reg.call('moody.echo', { text: 'too late' })).toMatchObject({
    ok: false,
    error: { code: 'DEPENDENCY', retryable: false },
  })
})

test('[6.mcp-restart] a server that dies while its changes are listed is started again and keeps its tools', async () => {
  const mark = join(makeFolder(), 'mark')
  const reg = await registry({ mcpServers: failing('die', mark) })
  try {
    const changed = new Promise((resolve) => reg.onChange(() => resolve(undefined)))
    expect(await reg.call('moody.echo', { text: 'change' })).toMatchObject({ ok: true })
    await changed
    expect(existsSync(mark)).toBe(true)
    expect(reg.problems()).toEqual([])
    expect(await reg.call('moody.echo', { text: 'again' })).toMatchObject({ ok: true })
  } finally {
    await reg.close()
  }
})
