"use strict";
// The page is complete without this script; it only hides what the filter does not want.
(() => {
  const box = document.getElementById("filter");
  if (!box) return;
  const kinds = [...document.querySelectorAll('input[name="kind"]')];
  const files = [...document.querySelectorAll(".file")].map((element) => ({
    element,
    path: element.querySelector(".path").textContent.toLowerCase(),
    findings: [...element.querySelectorAll(".finding")].map((row) => ({
      row,
      kind: row.dataset.kind,
      text: row.textContent.toLowerCase(),
    })),
  }));
  const total = files.reduce((sum, file) => sum + file.findings.length, 0);
  const shown = document.getElementById("shown");
  const nothing = document.getElementById("nothing");

  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set(kinds.filter((kind) => kind.checked).map((kind) => kind.value));
    const all = wanted.size === kinds.length;
    let findings = 0;
    let visible = 0;
    for (const file of files) {
      const rest = words.filter((word) => !file.path.includes(word));
      let matches = 0;
      for (const finding of file.findings) {
        const match = wanted.has(finding.kind) && rest.every((word) => finding.text.includes(word));
        finding.row.hidden = !match;
        matches += match;
      }
      // A changed file without a finding has no kind: it goes only with the path.
      const match = matches > 0 || (file.findings.length === 0 && all && rest.length === 0);
      file.element.hidden = !match;
      findings += matches;
      visible += match;
    }
    nothing.hidden = visible > 0;
    const filtered = words.length > 0 || !all;
    shown.textContent = filtered ? `${findings.toLocaleString("en")} of ${total.toLocaleString("en")} entries in ${visible.toLocaleString("en")} of ${files.length.toLocaleString("en")} files` : "";
  };

  const openAll = (open) => () => {
    for (const file of files) if (!file.element.hidden) file.element.open = open;
  };

  // A link to a file, or to a line of its diff, opens it.
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const file = target && target.closest(".file");
    if (!file) return;
    if (file.hidden) {
      box.value = "";
      for (const kind of kinds) kind.checked = true;
      filter();
    }
    file.open = true;
    target.scrollIntoView();
  };

  box.addEventListener("input", filter);
  for (const kind of kinds) kind.addEventListener("change", filter);
  document.getElementById("open").addEventListener("click", openAll(true));
  document.getElementById("close").addEventListener("click", openAll(false));
  addEventListener("hashchange", reveal);
  filter();
  reveal();
})();
