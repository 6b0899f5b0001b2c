import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Disk } from '../../../src/core/files/disk.ts'
import { folderFiles, memoryFiles } from '../../../src/core/files/files.ts'
import type { Filesystem } from '../../../src/protocol/state.ts'
import { readDisk, sorted } from './model.ts'
import { makeRoot } from './roots.ts'

const BAD_PATHS = [
  '..',
  '../a',
  'a/../../b',
  'a/..',
  '/etc/passwd',
  '\\etc',
  'C:\\a',
  'c:/a',
  'a\0b',
  '\0',
  '\ud800',
  `a/${'x'.repeat(256)}`,
  `${'ä'.repeat(128)}`,
  'a/'.repeat(3_000),
  '.toolable-changes',
  '.toolable-changes/x/plan.json',
  './/.toolable-changes/lock',
  '.Toolable-Changes/x',
  '.toolable\u200b-changes',
  '．toolable-changes/a',
]
const ALL: readonly ((view: Filesystem, path: string) => Promise<unknown>)[] = [
  (view, path) => view.stat(path),
  (view, path) => view.readText(path),
  (view, path) => view.readBytes(path),
  (view, path) => view.readLines(path),
  (view, path) => view.list(path),
  (view, path) => view.write(path, 'x'),
  (view, path) => view.append(path, 'x'),
  (view, path) => view.remove(path, { recursive: true }),
  (view, path) => view.move(path, 'y'),
  (view, path) => view.move('there', path),
  (view, path) => view.makeFolder(path),
]

describe('paths', () => {
  test.each(BAD_PATHS)(
    '%j is INVALID_PATH for everything, with what to do instead [8.files-confined] [8.files-hidden]',
    async (path) => {
      for (const files of [folderFiles(makeRoot()), memoryFiles()]) {
        const { view } = files.begin({ readOnly: false })
        await view.write('there', 'x')
        for (const act of ALL)
          await expect(act(view, path)).rejects.toMatchObject({
            code: 'INVALID_PATH',
            suggestion: { fix: expect.any(String) },
          })
        await expect(view.write(7 as never, 'x')).rejects.toMatchObject({ code: 'INVALID_PATH' })
        expect((await view.list()).items.map((entry) => entry.path)).toEqual(['there'])
      }
    },
  )

  test('the root itself stays, and the same place has one name however it is written [8.files-confined]', async () => {
    for (const files of [folderFiles(makeRoot()), memoryFiles()]) {
      const { view } = files.begin({ readOnly: false })
      for (const act of ALL.slice(5))
        await expect(act(view, '.')).rejects.toMatchObject({
          code: expect.stringMatching(/INVALID_PATH|NOT_FOUND/),
        })
      await view.write('./a//ü/./😀.txt', 'one')
      expect(await view.stat('a/ü/😀.txt/')).toEqual({ path: 'a/ü/😀.txt', kind: 'file', size: 3 })
      expect(await view.stat('')).toEqual({ path: '.', kind: 'folder', size: 0 })
      for (const name of [
        '__proto__',
        'constructor',
        'toString',
        '-rf',
        ' ',
        '...',
        'a\nb',
        'x'.repeat(255),
      ]) {
        await view.write(`odd/${name}`, name)
        expect(await view.readText(`odd/${name}`)).toBe(name)
      }
      expect((await view.list('odd')).total).toBe(8)
    }
  })
})

describe('a folder with hostile things in it', () => {
  test('links, pipes and devices are refused with the path that was meant, passed over by searches, and go with the folder that they lie in [8.files-confined]', async () => {
    const [root, outside] = [makeRoot(), makeRoot()]
    mkdirSync(join(root, 'real'))
    writeFileSync(join(root, 'real/file.txt'), 'inside')
    writeFileSync(join(outside, 'secret.txt'), 'inside out')
    symlinkSync(outside, join(root, 'out'))
    symlinkSync(join(outside, 'secret.txt'), join(root, 'real/secret.txt'))
    symlinkSync('real', join(root, 'in'))
    symlinkSync('loop', join(root, 'loop'))
    execFileSync('mkfifo', [join(root, 'real/pipe')])
    const files = folderFiles(root)
    const part = files.begin({ readOnly: false })
    const { view } = part
    for (const path of [
      'out',
      'out/secret.txt',
      'out/new.txt',
      'real/secret.txt',
      'in',
      'in/file.txt',
      'loop/x',
      'real/pipe',
    ]) {
      for (const act of ALL.slice(0, 9))
        await expect(act(view, path), path).rejects.toMatchObject({ code: 'INVALID_PATH' })
    }
    await expect(view.readText('in/file.txt')).rejects.toMatchObject({
      suggestion: { fix: "Use 'real'" },
    })
    expect((await view.list()).items.map(({ path }) => path)).toEqual(['real'])
    expect((await view.list('real')).items.map(({ path }) => path)).toEqual(['real/file.txt'])
    expect(await view.grep('inside')).toMatchObject({
      total: 1,
      items: [{ path: 'real/file.txt', line: 1 }],
    })
    await view.remove('real/file.txt')
    await expect(view.remove('real')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('neither a file nor a folder'),
    })
    await view.remove('real', { recursive: true })
    await part.commit()
    await part.end?.()
    expect(readdirSync(root).sort()).toEqual(['in', 'loop', 'out'])
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('inside out')
  })

  test('a name that is no text hides its file from lists, is in the way of a removal, and goes with its folder [8.files-confined]', async () => {
    const root = makeRoot()
    const bytes = (...names: readonly (string | Buffer)[]): Buffer =>
      Buffer.concat(
        [root, ...names].flatMap((name, index) => [
          Buffer.from(index === 0 ? '' : '/'),
          Buffer.from(name),
        ]),
      )
    mkdirSync(join(root, 'odd/deep'), { recursive: true })
    for (const folder of ['odd', 'odd/deep'])
      writeFileSync(bytes(folder, Buffer.from([0xff, 0xfe])), 'x')
    const files = folderFiles(root)
    const part = files.begin({ readOnly: false })
    expect((await part.view.list('odd')).items.map(({ path }) => path)).toEqual(['odd/deep'])
    await expect(part.view.remove('odd/deep')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('not empty'),
    })
    await part.view.remove('odd', { recursive: true })
    await part.commit()
    await part.end?.()
    expect(readdirSync(root)).toEqual([])
  })

  test('a folder that becomes a link between the look at it and its use leads nobody out, neither readers nor writers [8.files-confined]', async () => {
    const [root, outside] = [makeRoot(), makeRoot()]
    for (const [place, text] of [
      [join(root, 'a/d'), 'inside'],
      [join(outside, 'd'), 'outside'],
    ] as const) {
      mkdirSync(place, { recursive: true })
      writeFileSync(join(place, 'f'), text)
    }
    const swap = (): void => {
      renameSync(join(root, 'a'), join(root, 'b'))
      symlinkSync(outside, join(root, 'a'))
    }
    const part = folderFiles(root).begin({ readOnly: false })
    await part.view.write('a/d/f', 'changed')
    await part.view.write('a/d/new', 'new')
    swap()
    await expect(Promise.resolve(part.commit())).rejects.toMatchObject({
      code: expect.stringMatching(/CONFLICT|INVALID_PATH/),
    })
    await part.rollback()
    // Each step by itself, as if everything before it had still found the folder.
    const disk = new Disk(root)
    writeFileSync(join(root, 'own'), 'own')
    for (const act of [
      () => disk.look('a/d/f'),
      () => disk.list('a/d'),
      () => disk.names('a/d'),
      () => disk.read('a/d/f', 0, 1),
      () => disk.checkWritable('a/d/f'),
      () => disk.copy('a/d/f', 'stolen'),
      () => disk.keep('a/d/f', 'stolen'),
      () => disk.move('a/d/f', 'stolen'),
      () => disk.move('own', 'a/d/own'),
      () => disk.keep('own', 'a/d/own'),
      () => disk.copy('own', 'a/d/own'),
      () => disk.write('a/d/own', Buffer.from('x')),
      () => disk.write('a/d/f', Buffer.from('x'), { offset: 0 }),
      () => disk.finish('a/d/f', { size: 0 }),
      () => disk.makeFolder('a/d/e'),
      () => disk.remove('a/d/f'),
      () => disk.removeFolder('a/d/e'),
      () => disk.removeAll('a/d/f'),
      () => disk.removeSmall('a/d'),
      () => disk.pin(['a/d']),
    ])
      expect(act, String(act)).toThrow(expect.objectContaining({ code: 'ELOOP' }))
    await expect(disk.removeSlowly('a/d/f')).rejects.toMatchObject({ code: 'ELOOP' })
    // The file itself may be the link.
    symlinkSync(join(outside, 'd/f'), join(root, 'link'))
    for (const act of [
      () => disk.read('link', 0, 1),
      () => disk.checkWritable('link'),
      () => disk.copy('link', 'stolen'),
      () => disk.write('link', Buffer.from('x'), { offset: 0 }),
      () => disk.finish('link', { size: 0 }),
    ])
      expect(act, String(act)).toThrow(expect.objectContaining({ code: 'ELOOP' }))
    for (const act of [() => disk.removeSmall('a'), () => disk.list('a'), () => disk.pin(['a'])])
      expect(act, String(act)).toThrow(expect.objectContaining({ code: 'ENOTDIR' }))
    disk.removeAll('a')
    expect(sorted(readDisk(outside))).toEqual([
      ['d', null],
      ['d/f', 'outside'],
    ])
    expect(readdirSync(root).sort()).toEqual(['b', 'link', 'own'])
  })

  test('a changed or moved file keeps its mode, a new one has that of the process, and other names of a file keep the old content [8.files-mode]', async () => {
    const root = makeRoot()
    for (const [name, mode] of [
      ['tool.sh', 0o750],
      ['moved.sh', 0o700],
      ['log', 0o640],
      ['shared', 0o644],
    ] as const) {
      writeFileSync(join(root, name), 'old')
      chmodSync(join(root, name), mode)
    }
    linkSync(join(root, 'shared'), join(root, 'other'))
    mkdirSync(join(root, 'gone'))
    writeFileSync(join(root, 'gone/inner'), 'inner')
    const part = folderFiles(root, { flush: true }).begin({ readOnly: false })
    await part.view.write('tool.sh', 'new')
    await part.view.move('moved.sh', 'bin/moved.sh')
    await part.view.append('bin/moved.sh', ' and new')
    await part.view.append('log', ' and new')
    await part.view.write('shared', 'new')
    await part.view.write('fresh', 'new')
    // What is flushed to the disk may lie in a folder that is gone by then.
    await part.view.move('gone/inner', 'inner')
    await part.view.remove('gone')
    await part.commit()
    await part.end?.()
    const mode = (name: string): number => statSync(join(root, name)).mode & 0o777
    expect([mode('tool.sh'), mode('bin/moved.sh'), mode('log'), mode('fresh')]).toEqual([
      0o750,
      0o700,
      0o640,
      0o666 & ~process.umask(),
    ])
    expect(
      ['tool.sh', 'bin/moved.sh', 'log', 'shared', 'other'].map((name) =>
        readFileSync(join(root, name), 'utf8'),
      ),
    ).toEqual(['new', 'old and new', 'old and new', 'new', 'old'])
  })

  test('the place of changes can be no link, and a planted record of changes moves nothing out of the root [8.files-hostile-journal]', async () => {
    const outside = makeRoot()
    writeFileSync(join(outside, 'f'), 'outside')
    const linked = makeRoot()
    symlinkSync(outside, join(linked, '.toolable-changes'))
    const part = folderFiles(linked).begin({ readOnly: false })
    await expect(part.view.write('a', 'a')).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('is no folder'),
    })
    await part.rollback()
    expect(readdirSync(outside)).toEqual(['f'])

    const dead = 'abcdefgh-abcdefgh-abcdefgh-1-1-0'
    for (const plan of [
      '{"version":1,"take":[{"from":"../stolen","slot":0}],"put":[]}\n',
      '{"version":1,"take":[{"from":"/tmp/stolen","slot":0}],"put":[]}\n',
      '{"version":1,"take":[],"put":[{"to":"a/../../f","slot":0}]}\n',
      '{"version":1,"take":[{"from":".toolable-changes/x","slot":0}],"put":[]}\n',
      '{"version":2}\n',
      '[]\n',
      'x\n',
    ]) {
      const root = makeRoot()
      const stage = join(root, '.toolable-changes', dead)
      mkdirSync(stage, { recursive: true })
      writeFileSync(join(stage, 'old-0'), 'evil')
      writeFileSync(join(stage, 'plan.json'), plan)
      await expect(folderFiles(root).begin({ readOnly: true }).view.list()).rejects.toMatchObject({
        code: 'CONFIG',
        message: expect.stringContaining('plan.json'),
        suggestion: { fix: expect.stringContaining('rm -r') },
      })
      expect(lstatSync(join(stage, 'old-0')).isFile()).toBe(true)
    }
    // A plan that is well formed only gives back what lies beside it, here through a link: it
    // fails, and nothing leaves the root.
    const root = makeRoot()
    symlinkSync(outside, join(root, 'way'))
    const stage = join(root, '.toolable-changes', dead)
    mkdirSync(stage, { recursive: true })
    writeFileSync(join(stage, 'old-0'), 'evil')
    writeFileSync(
      join(stage, 'plan.json'),
      '{"version":1,"take":[{"from":"way/evil","slot":0}],"put":[]}\n',
    )
    await expect(folderFiles(root).begin({ readOnly: true }).view.list()).rejects.toMatchObject({
      code: expect.stringMatching(/CONFLICT|INVALID_PATH/),
    })
    expect(sorted(readDisk(outside))).toEqual([['f', 'outside']])
  })
})
