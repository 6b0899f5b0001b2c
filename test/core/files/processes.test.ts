import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { buildSync } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { folderFiles } from '../../../src/core/files/files.ts'
import { fixture, launch, makeFolder } from '../../support/run-program.ts'
import type { Running } from '../../support/run-program.ts'
import { readDisk, sorted, writeDisk } from './model.ts'
import type { Model } from './model.ts'
import { makeRoot } from './roots.ts'

const BEFORE: Model = new Map([
  ['edited', 'before'],
  ['log', 'before'],
  ['moved', null],
  ['moved/x', 'x'],
  ['removed', null],
  ['removed/y', 'y'],
  ['removed/z', null],
])
const AFTER: Model = new Map([
  ['edited', 'after'],
  ['empty', null],
  ['log', 'before after'],
  ['new', null],
  ['new/file', 'after'],
  ['new/moved', null],
  ['new/moved/x', 'x'],
])

const bundled = new Map<string, string>()

function bundle(name: string): string {
  if (!bundled.has(name)) {
    const outfile = join(makeFolder(), name)
    buildSync({
      entryPoints: [fixture(`files/${name}`)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
    })
    bundled.set(name, outfile)
  }
  return bundled.get(name)!
}

function start(name: string, args: readonly string[], behind: readonly string[] = []): Running {
  const [command, ...rest] = [...behind, process.execPath, bundle(name), ...args]
  return launch(command!, rest, {})
}

function makeBefore(): string {
  const root = makeRoot()
  writeDisk(root, BEFORE)
  return root
}

const open = (root: string): Promise<unknown> =>
  folderFiles(root).begin({ readOnly: true }).view.list()

describe('a process that is killed', () => {
  // Each call of the kernel that changes a folder, once for every time that it is used; the last of
  // each is used no more, and nobody dies.
  test.each(['rename', 'unlink', 'link'])(
    'at any %s leaves the folder as before or as after, and nothing else [8.files-killed] [8.files-journal]',
    async (syscall) => {
      const ends = new Set<string>()
      for (let when = 1; !ends.has('ended') && when < 40; when += 1) {
        const root = makeBefore()
        const { stdout, signal, status } = await start(
          'commits.mjs',
          [root],
          [
            'strace',
            '-qq',
            '-o',
            '/dev/null',
            '-e',
            `inject=${syscall}:signal=SIGKILL:when=${when}`,
          ],
        ).ended
        expect(stdout.includes('ended') || signal === 'SIGKILL' || status === 137).toBe(true)
        const leftBehind = existsSync(join(root, '.toolable-changes'))
        await open(root)
        const found = sorted(readDisk(root))
        if (stdout.includes('ended')) {
          ends.add('ended')
          expect([leftBehind, found]).toEqual([false, sorted(AFTER)])
        } else {
          expect(
            [sorted(BEFORE), sorted(AFTER)],
            `killed at ${syscall} number ${when}`,
          ).toContainEqual(found)
          ends.add(JSON.stringify(found) === JSON.stringify(sorted(BEFORE)) ? 'before' : 'after')
        }
      }
      expect(ends).toContain('ended')
      expect(ends).toContain('before')
    },
  )

  test('before its commit leaves the folder untouched, and what it wrote is swept up by the next one [8.files-killed]', async () => {
    const root = makeBefore()
    const running = start('commits.mjs', [root, 'wait'])
    await running.said('written')
    expect(
      sorted(readDisk(root)).filter(([path]) => !path.startsWith('.toolable-changes')),
    ).toEqual(sorted(BEFORE))
    await open(root)
    // It lives: what it has is left alone.
    expect(readdirSync(join(root, '.toolable-changes'))).toHaveLength(2)
    running.kill('SIGKILL')
    await running.ended
    await open(root)
    expect(sorted(readDisk(root))).toEqual(sorted(BEFORE))
  })

  test('after its commit and before its end had not finished: who waits for it takes its changes back, then makes his own [8.files-turns] [8.files-journal]', async () => {
    const root = makeBefore()
    const running = start('commits.mjs', [root, 'hang'])
    await running.said('committed')
    const part = folderFiles(root).begin({ readOnly: false })
    await part.view.write('mine', 'mine')
    let isDone = false
    const committing = Promise.resolve(part.commit()).then(() => {
      isDone = true
    })
    await new Promise((resolve) => {
      setTimeout(resolve, 100)
    })
    expect(isDone).toBe(false)
    running.kill('SIGKILL')
    await running.ended
    await committing
    await part.end?.()
    expect(sorted(readDisk(root))).toEqual(sorted(new Map([...BEFORE, ['mine', 'mine']])))
  })
})

describe('processes on one folder', () => {
  test('do not mix: of what they do at the same time nothing is lost [8.files-turns] [8.files-conflict]', async () => {
    const root = makeRoot()
    writeFileSync(join(root, 'n'), '0')
    const ended = await Promise.all(
      [1, 2, 3].map(() => start('counts-together.mjs', [root, '60']).ended),
    )
    expect(ended.map(({ status, stderr }) => [status, stderr])).toEqual([
      [0, ''],
      [0, ''],
      [0, ''],
    ])
    expect(sorted(readDisk(root))).toEqual([['n', '180']])
  })

  test('nor do threads of one process [8.files-turns]', async () => {
    const root = makeRoot()
    writeFileSync(join(root, 'n'), '0')
    const threads = [1, 2].map(
      () => new Worker(bundle('counts-together.mjs'), { argv: [root, '60'], stdout: true }),
    )
    expect(
      await Promise.all(
        threads.map(
          (thread) =>
            new Promise((resolve, reject) => {
              thread.on('exit', resolve).on('error', reject)
            }),
        ),
      ),
    ).toEqual([0, 0])
    expect(sorted(readDisk(root))).toEqual([['n', '120']])
  })

  test('a lock of somebody who is gone is taken over, one of somebody who may live is not [8.files-turns]', async () => {
    const root = makeRoot()
    const part = folderFiles(root).begin({ readOnly: false })
    await part.view.write('a', 'a')
    const [own] = readdirSync(join(root, '.toolable-changes')).filter(
      (name) => name !== '.gitignore',
    )
    const dead = own!.split('-').with(4, '1')
    writeFileSync(join(root, '.toolable-changes/lock'), `${dead.join('-')}\n`)
    await part.commit()
    expect(readFileSync(join(root, '.toolable-changes/lock'), 'utf8')).toContain(
      own!.split('-').slice(0, 5).join('-'),
    )
    await part.end?.()
    expect(sorted(readDisk(root))).toEqual([['a', 'a']])
  })
})

describe('a user that may not', () => {
  test('change a file or a folder is told PERMISSION, and nothing else is changed either [8.files-permission]', async () => {
    const root = makeRoot()
    writeDisk(
      root,
      new Map([
        ['locked', 'locked'],
        ['closed/old', 'old'],
        ['free', 'free'],
      ]),
    )
    chmodSync(join(root, 'locked'), 0o444)
    chmodSync(join(root, 'closed'), 0o555)
    // Also root has no more rights than others there.
    const { lines, stderr } = await start('is-not-allowed.mjs', [root], ['unshare', '-U']).ended
    chmodSync(join(root, 'closed'), 0o755)
    expect(stderr).toBe('')
    expect(lines.map(({ where, code }) => [where, code])).toEqual([
      ['view', 'PERMISSION'],
      ['view', 'PERMISSION'],
      ['commit', 'PERMISSION'],
      ['commit', 'PERMISSION'],
      ['none', undefined],
    ])
    expect(lines[0].message).toBe("cannot write 'locked': EACCES")
    expect(sorted(readDisk(root))).toEqual([
      ['closed', null],
      ['closed/old', 'old'],
      ['free', 'free'],
      ['locked', 'locked'],
    ])
  })
})

describe('a disk that is full', () => {
  test('at any point of a call is DISK_FULL, and the folder is as before [8.files-disk-full]', async () => {
    const place = makeFolder()
    // A file system of its own, that goes with the process.
    const { lines, stderr } = await start(
      'fills-the-disk.mjs',
      [place],
      [
        'unshare',
        '-Urm',
        '/bin/sh',
        '-c',
        `mount -t tmpfs -o size=256k none "${place}" && exec "$@"`,
        'sh',
      ],
    ).ended
    expect(stderr).toBe('')
    expect(lines).toHaveLength(65)
    expect(lines.filter(({ same }) => same !== true)).toEqual([])
    expect(new Set(lines.map(({ code }) => code))).toEqual(new Set(['DISK_FULL', undefined]))
    for (const where of ['write', 'more', 'commit', 'none'])
      expect(lines.map((line) => line.where)).toContain(where)
  })
})
