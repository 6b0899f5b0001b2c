import { registry } from 'toolable'

const reg = await registry({ folders: [process.env.TOOLS] })
console.log(`${reg.list().length} tools`)
await reg.close()
