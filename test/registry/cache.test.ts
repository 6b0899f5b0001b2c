import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  formatCacheLine,
  parseCacheLine,
  statFile,
  toStorableStamp,
} from '../../src/registry/cache.ts'
import { recallRecord, createRecord } from '../../src/registry/folder/scan.ts'
import { makeFolder } from '../support/run-program.ts'

const stamp = { size: 10, mtime: 1000.25, ino: 7 }
const candidate = {
  key: 'a.py',
  path: '/tools/a.py',
  what: 'program',
  name: 'a',
  seen: { stamp, mode: 0o100644, isFile: true, isFolder: false },
} as const
const problem = { is: 'problem', reason: 'slow', message: 'a.py: slow', fix: 'Be quick' } as const
const recordWith = (outline: object, changed: object = {}) => ({
  path: 'a.py',
  stamp: { ...stamp, ...changed },
  hash: 'abc',
  outline: { ...problem, ...outline },
  body: '',
})

test('[6.folder-cache] a verdict about the moment has a short life, and one through another interpreter does not count', async () => {
  const now = 50_000
  const recall = (through: string, outline?: object) =>
    recallRecord(candidate, through, outline && recordWith(outline), now)
  expect(await recall('', { until: now + 1 })).toMatchObject({ outline: problem })
  expect(await recall('', { until: now - 1 })).toBeUndefined()
  expect(await recall('python3', { through: 'python3' })).toMatchObject({ outline: problem })
  expect(await recall('/tools/shared_venv/bin/python', { through: 'python3' })).toBeUndefined()
  expect(await recall('')).toBeUndefined()
})

test('[6.folder-cache] a file of the same size that was touched is compared by its hash, one of another size is new', async () => {
  const path = join(makeFolder(), 'a.py')
  const look = () => ({ ...candidate, path, seen: statFile(path)! })
  writeFileSync(path, 'print("one")')
  const later = Date.now() + 1000
  const { record } = await createRecord(look(), '', { outline: problem, body: '' }, later)
  utimesSync(path, 1, 1)
  expect(await recallRecord(look(), '', record, later)).toMatchObject({
    outline: problem,
    record: { hash: record.hash, stamp: { mtime: 1000 } },
  })
  expect(await recallRecord(look(), '', { ...record, hash: '' }, 0)).toBeUndefined()
  writeFileSync(path, 'print("two")')
  expect(await recallRecord(look(), '', record, 0)).toBeUndefined()
  writeFileSync(path, 'print("three")')
  expect(await recallRecord(look(), '', record, 0)).toBeUndefined()
  // What was written in the last step of the clock may be written again without a trace.
  expect(toStorableStamp(candidate.seen, 1005)).toEqual({ ...stamp, mtime: 0 })
  expect(toStorableStamp(candidate.seen, 2000)).toEqual(stamp)
})

test('[6.folder-cache] what is learnt of a file that changes meanwhile is not taken for what the new one says', async () => {
  const path = join(makeFolder(), 'a.py')
  writeFileSync(path, 'print("old")')
  const before = { ...candidate, path, seen: statFile(path)! }
  writeFileSync(path, 'print("new")')
  utimesSync(path, 1, 1)
  const { record } = await createRecord(
    before,
    '',
    { outline: problem, body: '' },
    Date.now() + 1000,
  )
  expect(await recallRecord({ ...before, seen: statFile(path)! }, '', record, 0)).toBeUndefined()
})

test('[6.folder-cache] a line is read back as it was, and no other text is a line', () => {
  const record = { ...recordWith({ message: 'tab\there\nand "there"' }), body: '{"a":1}' }
  expect(parseCacheLine(formatCacheLine(record))).toEqual(record)
  expect(formatCacheLine(record)).not.toContain('\n')
  for (const text of [
    '',
    '\t',
    '{}\t{}',
    '[]\t',
    '["a",1,2,3,"h",{}]',
    '["a","1",2,3,"h",{}]\t',
    '["a",1,2,3,"h",[]]\t',
    '["a",1,2,3,"h",{},1]\t',
  ])
    expect(parseCacheLine(text)).toBeUndefined()
})
