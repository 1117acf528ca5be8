// A report as one page of HTML with all that it needs in it: figures as SVG, maps as numbers that a script paints.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/rich_text.h"
#include "app/paper/page_file.h"
#include "app/plot/color_map.h"
#include "app/report/report.h"
#include "core/text/base64.h"

namespace headroom {
namespace {

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  return out;
}

std::string html_rich(const RichText& text) {
  std::string out;
  for (const TextRun& run : text) {
    std::string inner = html_text(run.text);
    using Form = TextRun::Form;
    if (run.form == Form::Italic || run.form == Form::SubItalic) inner = "<i>" + inner + "</i>";
    if (run.form == Form::Sub || run.form == Form::SubItalic) inner = "<sub>" + inner + "</sub>";
    if (run.form == Form::Super) inner = "<sup>" + inner + "</sup>";
    out += run.under_root ? "<span class=root>" + inner + "</span>" : inner;
  }
  return out;
}

// One paragraph for each panel; its letter is bold.
std::string html_caption(std::string_view markup) {
  std::string out;
  while (!markup.empty()) {
    const std::size_t end = markup.find('\n');
    std::string_view line = markup.substr(0, end);
    out += "<p>";
    if (const std::size_t comma = line.find(", ");
        comma != std::string_view::npos && comma <= 4 && line.substr(0, comma).find(' ') == std::string_view::npos) {
      out += "<b>" + html_text(line.substr(0, comma)) + "</b>";
      line.remove_prefix(comma);
    }
    out += html_rich(rich(line)) + "</p>";
    markup.remove_prefix(end == std::string_view::npos ? markup.size() : end + 1);
  }
  return out;
}

constexpr std::string_view kStyle = R"(
:root{color-scheme:light}
body{font:15px/1.5 Inter,system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;color:#1a1d21;background:#fff;max-width:960px;margin:2em auto;padding:0 1.2em}
h1{font-size:1.7em;line-height:1.2;margin:0 0 .2em}h2{font-size:1.25em;margin:2.2em 0 .6em;padding-top:.6em;border-top:1px solid #d5d9de}
h3{font-size:1.02em;margin:1.9em 0 .5em}p{margin:.5em 0}.by{color:#5f6b76;margin:0 0 1.5em}.quiet{color:#5f6b76}
.warning{background:#fff3e0;border-left:4px solid #d55e00;padding:.5em .8em}
table{border-collapse:collapse;font-size:.87em;margin:.6em 0}th,td{text-align:left;padding:.18em .9em .18em 0;vertical-align:top}
th{border-bottom:1px solid #1a1d21;font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
table.facts th{border:0;font-weight:400;color:#5f6b76;white-space:nowrap}table.facts td{overflow-wrap:anywhere}
.wide{overflow-x:auto}tbody tr:nth-child(even){background:#f6f7f8}table.facts tr:nth-child(even){background:none}
figure{margin:.6em 0 1.4em}figure img{max-width:100%;height:auto;display:block}figcaption{font-size:.87em;color:#33393f;max-width:860px}
figcaption p{margin:.35em 0}code{font:12.5px/1.5 "JetBrains Mono",ui-monospace,"DejaVu Sans Mono",monospace;background:#f3f4f5;padding:.1em .35em;overflow-wrap:anywhere}
details{margin:.5em 0}summary{cursor:pointer;color:#007a5a}.root{text-decoration:overline}
.maps{display:flex;gap:1.2em;flex-wrap:wrap;align-items:flex-start}.maps canvas{image-rendering:pixelated;cursor:crosshair;border:1px solid #d5d9de;max-width:100%}
.maps .read{min-width:16em;flex:1;font-size:.9em}.maps select{font:inherit;padding:.2em}
.maps .read b{font-variant-numeric:tabular-nums}.tok{background:#f3f4f5;border-radius:3px;padding:0 .25em;white-space:pre}
nav{font-size:.9em;margin:0 0 1em}nav a{color:#007a5a;margin-right:1em}
@media print{nav,.maps{display:none}h3{break-after:avoid}figure{break-inside:avoid}}
)";

// Paints a head's map, and says what lies under the pointer or, with the arrow keys, under the cursor.
constexpr std::string_view kScript = R"(
for(const box of document.querySelectorAll('.maps')){
 const d=JSON.parse(box.querySelector('script').textContent),c=box.querySelector('canvas'),s=box.querySelector('select'),r=box.querySelector('.out');
 const k=d.cells,f=Math.max(1,Math.floor(576/k)),g=c.getContext('2d');c.width=c.height=k*f;
 const pal=(p)=>p.match(/.{6}/g).map(x=>[parseInt(x.slice(0,2),16),parseInt(x.slice(2,4),16),parseInt(x.slice(4,6),16)]);
 const plain=pal(d.colours),both=pal(d.signed);let v=null,at=null;
 const num=(x)=>{if(x===0)return'0';const a=Math.abs(x);return(x<0?'−':'')+(a>=1e-3?Number(a.toPrecision(3)).toString():a.toExponential(1).replace('-','−'))};
 const value=(q)=>q===0xFFFF?NaN:q===0?0:(q&0x8000?-1:1)*10**(((q&0x7FFF)-1)/32765*12-12);
 const load=()=>{const h=d.heads[s.value],b=atob(h.codes);v=new Float64Array(k*k);
  for(let i=0;i<k*k;i++)v[i]=value(b.charCodeAt(2*i)|b.charCodeAt(2*i+1)<<8);
  const im=g.createImageData(k,k);
  for(let i=0;i<k*k;i++){let p=[255,255,255];
   if(!Number.isNaN(v[i])){const a=Math.abs(v[i]),t=a<=1e-4?0:(Math.log10(Math.min(a,1))+4)/4;
    p=h.signed?both[Math.max(0,Math.min(255,Math.round(127.5+Math.sign(v[i])*t*127.5)))]:plain[Math.round(t*255)]}
   im.data.set([...p,255],4*i)}
  const o=document.createElement('canvas');o.width=o.height=k;o.getContext('2d').putImageData(im,0,0);
  g.imageSmoothingEnabled=false;g.drawImage(o,0,0,k*f,k*f);tell()};
 const name=(i)=>{const a=i*d.cell,e=Math.min(a+d.cell,d.length)-1,t=d.tokens[a];
  const w=document.createElement('span');w.append((e>a?a+'–'+e:a)+' ');if(t!==undefined){const q=document.createElement('span');q.className='tok';q.textContent=t+(e>a?' …':'');w.append(q)}return w};
 const tell=()=>{r.replaceChildren();if(!at){r.append('Point at the map, or click it and use the arrow keys.');return}
  const [i,j]=at,x=v[i*k+j],h=d.heads[s.value];
  const line=(a,b)=>{const p=document.createElement('p');p.append(a+' ',b);r.append(p)};
  line('query',name(i));line('key',name(j));const b=document.createElement('b');b.textContent=Number.isNaN(x)?'not visible':num(x);
  line(d.cell>1?(h.mean?'mean of the block':h.signed?'net weight of the block, farthest from 0':'largest weight of the block'):(h.signed?'net weight':'weight'),b)};
 c.addEventListener('pointermove',e=>{const q=c.getBoundingClientRect();at=[Math.min(k-1,Math.max(0,Math.floor((e.clientY-q.top)/q.height*k))),Math.min(k-1,Math.max(0,Math.floor((e.clientX-q.left)/q.width*k)))];tell()});
 c.tabIndex=0;c.addEventListener('keydown',e=>{const m={ArrowUp:[-1,0],ArrowDown:[1,0],ArrowLeft:[0,-1],ArrowRight:[0,1]}[e.key];if(!m)return;e.preventDefault();
  at=at?[Math.min(k-1,Math.max(0,at[0]+m[0])),Math.min(k-1,Math.max(0,at[1]+m[1]))]:[0,0];tell()});
 s.addEventListener('change',load);load()}
)";

std::string hex_table(const ColorTable& table) {
  std::string text;
  for (const Color& color : table) {
    std::array<char, 8> one{};
    std::snprintf(one.data(), one.size(), "%02x%02x%02x", color.r, color.g, color.b);
    text += one.data();
  }
  return text;
}

// What a page may be, so that it can be mailed and opens at once.
constexpr std::size_t kMostBytes = 4'900'000;

class HtmlWriter {
 public:
  explicit HtmlWriter(const FontLibrary& fonts) : fonts_(fonts) {}

  Result<std::string> write(const Report& report) {
    out_ =
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<meta name=viewport content=\"width=device-width\">\n<title>" +
        html_text(report.title) + " · Headroom</title>\n<style>" + std::string(kStyle) + "</style>\n<h1>" +
        html_text(report.title) + "</h1>\n<p class=by>" + html_text(report.program) + " · <code>" +
        html_text(report.command) + "</code></p>\n";
    HEADROOM_TRY_VOID(draw_figures(report));
    contents(report);
    // Maps take what is left.
    std::vector<std::string> parts;
    std::size_t taken = out_.size() + kScript.size(), maps = 0;
    for (const ReportBlock& block : report.blocks) {
      out_.clear();
      if (std::holds_alternative<ReportMaps>(block))
        ++maps;
      else
        std::visit([&](const auto& one) { add(one); }, block);
      parts.push_back(out_);
      taken += out_.size();
    }
    // The head of the page was put together first.
    std::string page = std::move(head_);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      page += parts[i];
      if (const auto* map = std::get_if<ReportMaps>(&report.blocks[i])) {
        out_.clear();
        add_maps(*map, taken < kMostBytes ? (kMostBytes - taken) / maps : 0);
        page += out_;
      }
    }
    out_ = std::move(page);
    if (scripted_) out_ += "<script>" + std::string(kScript) + "</script>\n";
    return out_ + "</html>\n";
  }

 private:
  void contents(const Report& report) {
    std::size_t number = 0;
    std::string links;
    for (const ReportBlock& block : report.blocks)
      if (const auto* heading = std::get_if<ReportHeading>(&block)) {
        ++number;
        links += "<a href=\"#s" + std::to_string(number) + "\">" + html_text(heading->text) + "</a>\n";
      }
    out_ += "<nav>\n" + links + "</nav>\n";
    head_ = out_;
  }

  void add(const ReportHeading& heading) {
    const std::string tag = "h" + std::to_string(heading.level);
    out_ += "<" + tag + " id=s" + std::to_string(++headings_) + ">" + html_text(heading.text) + "</" + tag + ">\n";
  }

  void add(const ReportText& text) {
    const char* of = text.warning ? " class=warning" : text.quiet ? " class=quiet" : "";
    out_ += std::string("<p") + of + ">" + html_rich(rich(text.markup)) + "</p>\n";
  }

  void add(const ReportTable& table) {
    const auto shown = table.first < 0 ? table.rows.size() : static_cast<std::size_t>(table.first);
    if (table.summary.empty() || table.rows.size() <= shown) {
      add_rows(table, table.rows);
      return;
    }
    if (shown > 0) add_rows(table, std::span(table.rows).first(shown));
    out_ += "<details><summary>" + html_text(table.summary) + "</summary>\n";
    add_rows(table, table.rows);
    out_ += "</details>\n";
  }

  void add_rows(const ReportTable& table, std::span<const std::vector<std::string>> rows) {
    const bool facts = table.columns.empty();
    const auto cell = [&](const char* tag, std::size_t column, const std::string& text) {
      const bool number = column < table.numbers.size() && table.numbers[column];
      out_ += std::string("<") + tag + (number ? " class=n>" : ">") + html_text(text) + "</" + tag + ">";
    };
    out_ += facts ? "<table class=facts>\n" : "<div class=wide><table>\n";
    if (!facts) {
      out_ += "<thead><tr>";
      for (std::size_t c = 0; c < table.columns.size(); ++c) cell("th", c, table.columns[c]);
      out_ += "</tr></thead>\n";
    }
    out_ += "<tbody>\n";
    for (const auto& row : rows) {
      out_ += "<tr>";
      for (std::size_t c = 0; c < row.size(); ++c) cell(facts && c == 0 ? "th" : "td", c, row[c]);
      out_ += "</tr>\n";
    }
    out_ += facts ? "</tbody></table>\n" : "</tbody></table></div>\n";
  }

  // As pictures of their own, so that identifiers of several figures do not meet: SVG, and pixels of the largest where
  // all together would be too much.
  Result<void> draw_figures(const Report& report) {
    std::size_t total = 0;
    std::vector<std::size_t> order;
    for (const ReportBlock& block : report.blocks)
      if (const auto* figure = std::get_if<ReportFigure>(&block)) {
        HEADROOM_TRY(PageBytes svg, page_bytes(figure->page, PageFormat::Svg, 0.0, figure->keys, fonts_));
        pictures_.push_back({figure, std::move(svg.bytes), false});
        order.push_back(order.size());
        total += pictures_.back().bytes.size() * 4 / 3;
      }
    for (const double dots_per_inch : {200.0, 100.0}) {
      std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return pictures_[i].bytes.size(); });
      for (const std::size_t i : order) {
        Picture& picture = pictures_[i];
        const bool large = !picture.pixels && picture.bytes.size() >= 500'000;
        if (!large && total < kMostBytes / 2) break;
        HEADROOM_TRY(PageBytes png,
                     page_bytes(picture.figure->page, PageFormat::Png, dots_per_inch, picture.figure->keys, fonts_));
        if (png.bytes.size() >= picture.bytes.size()) continue;
        total -= (picture.bytes.size() - png.bytes.size()) * 4 / 3;
        picture.bytes = std::move(png.bytes), picture.pixels = true;
      }
    }
    return {};
  }

  void add(const ReportFigure& figure) {
    const Picture& picture = pictures_[next_picture_++];
    std::array<char, 64> width{};
    std::snprintf(width.data(), width.size(), "%.0f", figure.page.figure.width_mm * 96.0 / 25.4 * 1.25);
    out_ += "<figure><img width=" + std::string(width.data()) + " alt=\"" +
            html_text(plain_caption(figure.page.caption)) + "\" src=\"data:image/" +
            (picture.pixels ? "png" : "svg+xml") + ";base64," + base64_of_bytes(picture.bytes) + "\">\n<figcaption>" +
            html_caption(figure.page.caption);
    for (const auto& [key, value] : figure.keys)
      if (key == "command") out_ += "<p><code>headroom " + html_text(value) + "</code></p>";
    out_ += "</figcaption></figure>\n";
  }

  void add(const ReportMaps& /*maps*/) {}

  void add_maps(const ReportMaps& maps, std::size_t most_bytes) {
    const std::size_t each = static_cast<std::size_t>(maps.cells * maps.cells) * 2 * 4 / 3 + 100;
    std::vector<const ReportMaps::Head*> heads;
    for (const ReportMaps::Head& head : maps.heads)
      if ((heads.size() + 1) * each <= most_bytes) heads.push_back(&head);
    std::ranges::sort(heads, {},
                      [](const ReportMaps::Head* one) { return std::pair(one->head.layer, one->head.head); });
    if (heads.empty()) {
      add(ReportText{"No room is left for maps: fewer runs in one report leave some.", false, true});
      return;
    }
    scripted_ = true;
    nlohmann::ordered_json json = {{"length", maps.length}, {"cells", maps.cells}, {"cell", maps.cell}};
    json["colours"] = hex_table(color_table(sequential_map(Colours::Headroom, false)));
    json["signed"] = hex_table(color_table(diverging_map(SignedColours::Headroom, false)));
    json["tokens"] = maps.tokens;
    json["heads"] = nlohmann::ordered_json::array();
    std::string options;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const ReportMaps::Head& head = *heads[i];
      std::string bytes;
      for (const std::uint16_t code : head.codes) {
        bytes += static_cast<char>(code & 0xFF);
        bytes += static_cast<char>(code >> 8);
      }
      json["heads"].push_back({{"head", head_text(head.head)},
                               {"signed", head.has_sign},
                               {"mean", head.mean},
                               {"codes", base64_of_bytes(bytes)}});
      // What is to be there first is what is shown first.
      options += "<option value=" + std::to_string(i) + (&head == maps.heads.data() ? " selected>" : ">") +
                 head_text(head.head) + "</option>";
    }
    // No "</script>" in it, whatever tokens there are.
    std::string data = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    for (std::size_t at = data.find('<'); at != std::string::npos; at = data.find('<', at))
      data.replace(at, 1, "\\u003c");
    const std::string of = std::to_string(heads.size()) + " of " + std::to_string(maps.all_heads) + " heads";
    out_ +=
        "<div class=maps id=" + maps.id + "><script type=\"application/json\">" + data +
        "</script><canvas></canvas><div class=read><p><label>head <select>" + options + "</select></label> " + of +
        "</p><p class=quiet>" +
        (maps.cell > 1 ? "Cells of " + std::to_string(maps.cell) + " × " + std::to_string(maps.cell) + " positions. "
                       : "Cell by cell. ") +
        "Colours are logarithmic from 10⁻⁴ to 1. Values are kept to three digits.</p><div class=out></div></div></div>\n";
  }

  struct Picture {
    const ReportFigure* figure;
    std::string bytes;
    bool pixels;
  };

  const FontLibrary& fonts_;
  std::string out_, head_;
  std::vector<Picture> pictures_;
  std::size_t next_picture_ = 0;
  std::size_t headings_ = 0;
  bool scripted_ = false;
};

}  // namespace

Result<std::string> report_html(const Report& report, const FontLibrary& fonts) {
  return HtmlWriter(fonts).write(report);
}

}  // namespace headroom
