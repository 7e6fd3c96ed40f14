// What is in the address, behind the #: the tab and its settings. A hand-edited one never breaks the page.

// fields: {name: {type: "number", min, max, whole} | {type: "choice", of} | {type: "points"} | {type: "text", max}, initial}
export function readState(fields, hash) {
  const given = new URLSearchParams(hash.replace(/^#/, "").slice(0, 60000));
  const state = {}, refused = [];
  for (const [name, field] of Object.entries(fields)) {
    state[name] = structuredClone(field.initial);
    if (!given.has(name)) continue;
    const value = readField(field, given.get(name));
    if (value === undefined) refused.push(name); else state[name] = value;
  }
  for (const name of given.keys()) if (name !== "tab" && !(name in fields)) refused.push(`“${name.slice(0, 20)}”`);
  return { state, refused };
}

function readField(field, text) {
  if (field.type === "choice") return field.of.includes(text) ? text : undefined;
  if (field.type === "text") return text.length <= field.max && text.trim() ? text : undefined;
  if (field.type === "points") return readPoints(text, field.width, field.most || 2000);
  const value = text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(value) || value < field.min || value > field.max) return undefined;
  return field.whole && !Number.isInteger(value) ? undefined : value;
}

// "1,2,+1;…": rows of so many numbers
function readPoints(text, width, most) {
  if (text === "") return [];
  const rows = text.split(";").map((row) => row.split(",").map((cell) => (cell.trim() === "" ? NaN : Number(cell))));
  const sound = rows.length <= most && rows.every((row) => row.length === width && row.every((a) => Math.abs(a) <= 1000));
  return sound ? rows : undefined;
}

export function writeState(fields, state) {
  const parts = [];
  for (const [name, field] of Object.entries(fields)) {
    const value = state[name];
    if (JSON.stringify(value) === JSON.stringify(field.initial)) continue;
    const text = field.type === "points" ? value.map((row) => row.map(short).join(",")).join(";")
      : field.type === "number" ? short(value) : value;
    parts.push(`${name}=${encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3B/g, ";")}`);
  }
  return parts.join("&");
}

const short = (a) => String(Math.round(a * 10000) / 10000);
