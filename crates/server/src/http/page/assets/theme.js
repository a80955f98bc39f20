// Applies the chosen theme before anything is drawn. It is a separate file because the page allows no inline scripts.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  if (localStorage.getItem("wrap")) document.documentElement.setAttribute("data-wrap", "");
} catch {
  // Without storage the system's theme holds.
}
