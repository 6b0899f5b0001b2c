// One way to execute workflows in a process of its own: `<way> <in flight> <workflows> <folder>`.
// Told 'go' it executes a round of them, and tells what that took.
import { engines } from './engines.mjs'

const [way, inFlight, count, folder] = process.argv.slice(2)
const { execute, close, around = () => ({ cpu: 0, memory: 0 }) } = await engines[way](folder)

process.on('message', async () => {
  const [begin, used] = [process.hrtime.bigint(), process.cpuUsage()]
  const before = around()
  let left = Number(count)
  await Promise.all(
    Array.from({ length: Number(inFlight) }, async () => {
      while (left > 0) {
        left -= 1
        await execute(left)
      }
    }),
  )
  const { user, system } = process.cpuUsage(used)
  const after = around()
  process.send({
    seconds: Number(process.hrtime.bigint() - begin) / 1e9,
    cpu: (user + system + after.cpu - before.cpu) / Number(count),
    memory: process.memoryUsage.rss() / 1024 / 1024 + after.memory,
  })
})
process.on('disconnect', () => void close())
process.send('ready')
