const { text } = JSON.parse(process.argv[2] ?? '{}')
console.log(JSON.stringify({ slug: text.toLowerCase().replace(/[^a-z0-9]+/g, '-') }))
