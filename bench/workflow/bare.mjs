// What no engine can do without: the same lines into a file, each on the disk before what comes
// after it, one write and one fdatasync for all that wait.
import { fdatasync, openSync, write } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const [writeText, sync] = [promisify(write), promisify(fdatasync)]

export async function bare(folder) {
  const fd = openSync(join(folder, 'bare.jsonl'), 'a')
  let text = ''
  let waiting = []
  let working = false
  const turn = () =>
    new Promise((resolve) => {
      setImmediate(resolve)
    })
  const work = async () => {
    working = true
    // Those who waited for a batch all have something to write then.
    for (await turn(); waiting.length > 0; await turn()) {
      const [batch, told] = [text, waiting]
      text = ''
      waiting = []
      await writeText(fd, batch)
      await sync(fd)
      for (const tell of told) tell()
    }
    working = false
  }
  const append = (lines) =>
    new Promise((resolve) => {
      text += lines
      waiting.push(resolve)
      if (!working) void work()
    })
  let number = 0
  return {
    async execute(n) {
      const id = `r-${(number += 1).toString(16).padStart(10, '0')}`
      const now = new Date().toISOString()
      const done = (step, value) => `{"t":"done","w":"${id}","k":"${step}","v":${value}}\n`
      await append(
        `{"t":"begin","w":"${id}","h":"${HASH}","n":"three-steps","at":"${now}","i":{"n":${n}}}\n`,
      )
      await append(done('one', n + 1))
      await append(done('two', n + 2))
      await append(
        `${done('three', n + 3)}{"t":"end","w":"${id}","s":"completed","at":"${now}","v":${n + 3}}\n`,
      )
    },
    close: async () => undefined,
  }
}

const HASH = '0'.repeat(64)
