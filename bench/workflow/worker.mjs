// One way to execute workflows in a process of its own: `<way> <in flight> <workflows> <folder>`. Told 'go' it executes a round of them, and tells what that took.
import { engines } from './engines.mjs'

const [way, inFlight, count, folder] = process.argv.slice(2)
const { execute, close } = await engines[way](folder)

process.on('message', async () => {
  const [begin, used] = [process.hrtime.bigint(), process.cpuUsage()]
  let left = Number(count)
  await Promise.all(Array.from({ length: Number(inFlight) }, async () => {
    while (left > 0) {
      left -= 1
      await execute(left)
    }
  }))
  const { user, system } = process.cpuUsage(used)
  process.send({ seconds: Number(process.hrtime.bigint() - begin) / 1e9, cpu: (user + system) / Number(count), memory: process.memoryUsage.rss() / 1024 / 1024 })
})
process.on('disconnect', () => void close())
process.send('ready')
