import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { collectArtifacts } from '../../../src/runner/artifacts.ts'

const sha256 = (data: string): string => createHash('sha256').update(data).digest('hex')
const SECRET = 'the file of somebody else'

let base: string
let workspace: string
let outside: string
let into: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'artifacts-')))
  ;[workspace, outside, into] = [
    join(base, 'work'),
    join(base, 'work-evil'),
    join(base, 'artifacts'),
  ]
  for (const folder of [workspace, outside]) mkdirSync(folder)
  writeFileSync(join(outside, 'secret'), SECRET)
})
afterEach(() => rmSync(base, { recursive: true }))

const collect = (
  announced: unknown,
  allowed: Parameters<typeof collectArtifacts>[0]['allowed'] = [],
): ReturnType<typeof collectArtifacts> => collectArtifacts({ workspace, allowed, into }, announced)

test('[7.artifacts] files and folders are hashed and copied, whatever way they are named', async () => {
  mkdirSync(join(workspace, 'out/deep'), { recursive: true })
  writeFileSync(join(workspace, 'out/b.txt'), 'b')
  writeFileSync(join(workspace, 'out/deep/a.txt'), 'aa')
  writeFileSync(join(workspace, 'ä b.json'), '{}')
  const { artifacts, problems } = await collect([
    './out/b.txt',
    { path: join(workspace, 'ä b.json'), name: 'answer', sha256: sha256('{}').toUpperCase() },
    { uri: pathToFileURL(join(workspace, 'out/deep/a.txt')).href },
    { path: 'out' },
    'out/../out/b.txt',
    { uri: 'https://example.org/report', name: 'report' },
  ])
  const manifest = `${sha256('b')}  b.txt\n${sha256('aa')}  deep/a.txt\n`
    .split(/(?<=\n)/)
    .sort()
    .join('')
  expect(artifacts).toEqual([
    { path: 'out/b.txt', sha256: sha256('b'), bytes: 1 },
    { path: 'ä b.json', name: 'answer', sha256: sha256('{}'), bytes: 2 },
    { path: 'out/deep/a.txt', sha256: sha256('aa'), bytes: 2 },
    { path: 'out', sha256: sha256(manifest), bytes: 3, files: 2 },
    { uri: 'https://example.org/report', name: 'report' },
  ])
  expect(problems).toEqual([])
  expect(readFileSync(join(into, 'out/deep/a.txt'), 'utf8')).toBe('aa')
})

test('[7.artifacts-contained] links, other names, pipes, sockets, escapes and what is gone are each refused with a problem, and nothing of them is read', async () => {
  mkdirSync(join(workspace, 'tree'))
  writeFileSync(join(workspace, 'tree/good'), 'good')
  symlinkSync(join(outside, 'secret'), join(workspace, 'link'))
  symlinkSync(outside, join(workspace, 'folder-link'))
  symlinkSync('../../work-evil/secret', join(workspace, 'tree/inner'))
  linkSync(join(outside, 'secret'), join(workspace, 'hard'))
  execFileSync('mkfifo', [join(workspace, 'pipe'), join(workspace, 'tree/pipe')])
  const server = createServer().listen(join(workspace, 'socket'))
  await new Promise((resolve) => server.once('listening', resolve))
  const bad = [
    'link',
    'folder-link',
    'folder-link/secret',
    'hard',
    'pipe',
    'socket',
    '../work-evil/secret',
    join(outside, 'secret'),
    `${workspace}-evil/secret`,
    '/etc/passwd',
    '/dev/zero',
    '/proc/self/environ',
    'tree/good/../../../work-evil/secret',
    'gone',
    'tree/good/below',
    'a\0b',
    '',
    42,
    null,
    { name: 'x' },
    'file://evil.example/x',
    '~/x',
    'x'.repeat(5000),
  ]
  const { artifacts, problems } = await collect([...bad, 'tree'])
  await new Promise((resolve) => server.close(resolve))
  expect(artifacts).toEqual([
    { path: 'tree', sha256: sha256(`${sha256('good')}  good\n`), bytes: 4, files: 1 },
  ])
  expect(problems).toHaveLength(bad.length + 2)
  expect(
    problems.filter(({ path }) => bad.slice(0, 7).includes(path)).map(({ message }) => message),
  ).toEqual([
    'the artifact link is a link, or lies behind one',
    'the artifact folder-link is a link, or lies behind one',
    'the artifact folder-link/secret is a link, or lies behind something that is no folder',
    'the artifact hard has other names (hard links), which may lie outside',
    'the artifact pipe is neither a file nor a folder',
    'the artifact socket is neither a file nor a folder',
    'the artifact ../work-evil/secret lies outside of the workspace, and of what the tool may write to',
  ])
  expect(readdirSync(into, { recursive: true })).toEqual(['tree', 'tree/good'])
  expect(JSON.stringify([artifacts, problems])).not.toContain(sha256(SECRET))
})

test('[7.artifacts-contained] a place that the tool may write to counts too, exactly', async () => {
  const allowed = [
    { path: join(outside, 'results'), tree: true },
    { path: join(outside, 'one.txt'), tree: false },
  ]
  mkdirSync(join(outside, 'results'))
  writeFileSync(join(outside, 'results/r.txt'), 'r')
  writeFileSync(join(outside, 'one.txt'), 'one')
  const { artifacts, problems } = await collect(
    [
      join(outside, 'results/r.txt'),
      join(outside, 'one.txt'),
      join(outside, 'secret'),
      join(outside, 'one.txt/x'),
    ],
    allowed,
  )
  expect(artifacts).toEqual([
    { path: join(outside, 'results/r.txt'), sha256: sha256('r'), bytes: 1 },
    { path: join(outside, 'one.txt'), sha256: sha256('one'), bytes: 3 },
  ])
  expect(problems.map(({ path }) => path)).toEqual([
    join(outside, 'secret'),
    join(outside, 'one.txt/x'),
  ])
})

test('[7.artifacts-contained] a place that the tool exchanged for a link, which it may where it was granted the folder around, leads nowhere', async () => {
  mkdirSync(join(base, 'granted'))
  const [folder, file] = [join(base, 'granted/folder'), join(base, 'granted/file')]
  symlinkSync(outside, folder)
  symlinkSync(join(outside, 'secret'), file)
  const { artifacts, problems } = await collect(
    [join(folder, 'secret'), file, join(outside, 'secret')],
    [
      { path: join(base, 'granted'), tree: true },
      { path: folder, tree: true },
      { path: file, tree: false },
    ],
  )
  expect([artifacts, problems.length, existsSync(into)]).toEqual([[], 3, false])
})

test('[7.artifacts] a false hash is told, lists that are none or too long are refused, and large files take little memory', async () => {
  writeFileSync(join(workspace, 'a'), 'a')
  expect((await collect([{ path: 'a', sha256: '00' }])).problems).toEqual([
    { path: 'a', message: `the artifact a has another hash than the tool said: ${sha256('a')}` },
  ])
  expect(await collect({ path: 'a' })).toEqual({
    artifacts: [],
    problems: [{ path: 'list', message: 'the artifact list is not a list' }],
  })
  expect(await collect(undefined)).toEqual({ artifacts: [], problems: [] })
  expect((await collect(new Array(1500).fill('a'))).problems).toHaveLength(1)
  writeFileSync(join(workspace, 'sparse'), '')
  truncateSync(join(workspace, 'sparse'), 200 * 1024 ** 3)
  expect((await collect(['sparse'])).problems).toMatchObject([
    { message: 'the artifact sparse has 214748364800 bytes, too many to be hashed' },
  ])
  truncateSync(join(workspace, 'sparse'), 100 * 1024 ** 2)
  const before = process.memoryUsage().rss
  expect((await collect(['sparse'])).artifacts).toMatchObject([{ bytes: 100 * 1024 ** 2 }])
  expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 ** 2)
})

test('[7.artifacts] what would take longer than anybody waits is given up when the run is cancelled, and no piece of it is kept', async () => {
  writeFileSync(join(workspace, 'hole'), '')
  // Nobody reads so much before the first timer fires.
  truncateSync(join(workspace, 'hole'), 900 * 1024 ** 2)
  const cancelled = new AbortController()
  setTimeout(() => cancelled.abort(), 5)
  const { artifacts, problems } = await collectArtifacts(
    { workspace, allowed: [], into, signal: cancelled.signal },
    ['hole'],
  )
  expect(artifacts).toEqual([])
  expect(problems[0]?.message).toContain('was not hashed before the run was cancelled')
  expect(existsSync(join(into, 'hole'))).toBe(false)
})

test('[7.artifacts-contained] what was planted where copies go is not followed', async () => {
  writeFileSync(join(workspace, 'secret'), 'overwritten')
  symlinkSync(outside, into)
  expect((await collect(['secret'])).problems).toEqual([])
  expect([
    readFileSync(join(outside, 'secret'), 'utf8'),
    readFileSync(join(into, 'secret'), 'utf8'),
    existsSync(join(outside, 'secret')),
  ]).toEqual([SECRET, 'overwritten', true])
})

test('[7.artifacts-contained] a folder that is exchanged for a link again and again never leads outside', async () => {
  mkdirSync(join(workspace, 'real'))
  writeFileSync(join(workspace, 'real/secret'), 'inside')
  symlinkSync('real', join(workspace, 'swap'))
  const swapper = `const fs=require('fs');const [w,o]=process.argv.slice(1);process.stdout.write('go');for(;;){fs.rmSync(w+'/swap',{force:true});fs.renameSync(w+'/real',w+'/swap');fs.renameSync(w+'/swap',w+'/real');fs.symlinkSync(o,w+'/swap')}`
  const { spawn } = await import('node:child_process')
  const child = spawn('node', ['-e', swapper, workspace, outside], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const seen = new Set<string>()
  for (let turn = 0; turn < 300; turn += 1)
    for (const one of (await collect(['swap/secret'])).artifacts)
      seen.add((one as { readonly sha256: string }).sha256)
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))
  expect([...seen].filter((hash) => hash !== sha256('inside'))).toEqual([])
})
